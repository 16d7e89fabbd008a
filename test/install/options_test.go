//go:build unix

package install

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1703: wrong usage ends with 2 and an error message.
func TestUsage(t *testing.T) {
	u := newUser(t)
	for line, want := range map[string]string{
		"--prefix": "✗ --prefix requires a directory path", "--prefix=": "✗ --prefix requires a directory path",
		"--prefix --yes": "✗ --prefix requires a directory path", "--branch": "✗ --branch requires a branch name",
		"--version": "✗ --version requires a tag or commit", "--ref -x": "✗ --ref requires a tag or commit",
		"--ref a;b": "✗ Not a tag or commit: a;b", "--ref ../x": "✗ Not a tag or commit: ../x",
		"--verify": "✗ --verify requires a SHA256 checksum value", "--verify abc": "requires a SHA256 checksum value",
		"--verify " + strings.Repeat("g", 64): "requires a SHA256 checksum value",
		"--archive":                           "✗ --archive requires a local path or URL",
		"--bogus":                             "✗ Unknown option: --bogus",
		"file.tar.gz":                         "✗ Unknown option: file.tar.gz", "--yes=1": "✗ Unknown option: --yes=1",
	} {
		r := u.fails(2, want, strings.Fields(line)...)
		if r.out != "" || !strings.HasSuffix(r.errors, "Run \"install.sh --help\" for usage.\n") {
			t.Errorf("%s: %+v", line, r)
		}
	}
	for _, option := range []string{"-h", "--help"} {
		r := u.installs(option)
		for _, want := range []string{"--archive", "--verify", "--version", "--ref", "--branch", "--prefix",
			"--yes", "-y", "--uninstall", "--no-modify-path", "--offline", "--no-verify",
			"--verify-signature", "--allow-downgrade", "Exit codes"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%s does not tell of %s", option, want)
			}
		}
	}
	if files := u.files(); files != nil {
		t.Errorf("%q", files)
	}
}

// CLI-1169: --uninstall removes the installation that install.sh is in, with its commands, without an option.
func TestUninstallFromItself(t *testing.T) {
	archive := unverified(t, pack(with("2.0.0", map[string]string{
		"mcp-bash/install.sh": newUser(t).contents(filepath.Join(checkout.Root(), "install.sh"))})))
	for name, args := range map[string][]string{
		"usual": nil, "prefix": {"--prefix", "my own"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.installs(append(args, "--archive", archive, "--no-modify-path")...)
			place := map[string]string{"usual": ".local/share/mcp-bash", "prefix": "my own/share/mcp-bash"}
			if r := u.runs(u.command("sh", u.path(place[name]+"/install.sh"), "--uninstall")); r.code != 0 {
				t.Errorf("%+v", r)
			}
			if left := u.files(); left != nil {
				t.Errorf("left %q", left)
			}
		})
	}
	// An option names another installation.
	u := newUser(t)
	u.installs("--archive", archive, "--no-modify-path")
	u.installs("--archive", archive, "--no-modify-path", "--prefix", "other")
	r := u.runs(u.command("sh", u.path(".local/share/mcp-bash/install.sh"), "--uninstall", "--prefix", "other"))
	if r.code != 0 || u.version() != "2.0.0" {
		t.Errorf("%+v", r)
	}
}

// CLI-1172: install.sh reports each step, and whether it knows the address of releases.
func TestMessages(t *testing.T) {
	u := newUser(t)
	tree := filepath.Join(u.home, "tree")
	for name, content := range stub("2.0.0") {
		u.write("tree/"+strings.TrimPrefix(name, "mcp-bash/"), content, 0o755)
	}
	u.env["MCPBASH_INSTALL_LOCAL_SOURCE"] = tree
	if r := u.installs(); !strings.Contains(r.out, "\nCopying mcp-bash...\n") || strings.Contains(r.out, "Downloading") {
		t.Errorf("%s", r.out)
	}
	delete(u.env, "MCPBASH_INSTALL_LOCAL_SOURCE")
	if r := u.fails(1, "✗ Go is needed to build from a checkout"); !strings.Contains(r.out, "\nBuilding mcp-bash...\n") ||
		strings.Contains(r.out, "Downloading") {
		t.Errorf("%s", r.out)
	}
	u.fails(1, "✗ This install.sh has no address of releases\n  Set MCPBASH_RELEASE_BASE_URL to it, use --archive FILE, "+
		"or run install.sh from a checkout.\n", "--version", "2.0.0")
	if r := u.installs("--help"); !strings.HasSuffix(r.out,
		"\nReleases: no address is known; set MCPBASH_RELEASE_BASE_URL to download them.\n") {
		t.Errorf("%s", r.out)
	}
}

// CLI-1706: install.sh does not touch files that it would destroy.
func TestRefused(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, place := range []string{"file", "directory", "link to a directory"} {
		u := newUser(t)
		switch place {
		case "file":
			u.write(".local/bin/mcp-runtool", "#!/bin/sh\n", 0o755)
		case "directory":
			u.write(".local/bin/mcp-runtool/x", "", 0o755)
		default:
			u.write(".local/bin/x", "", 0o755)
			if err := os.Symlink(u.home, u.path(".local/bin/mcp-runtool")); err != nil {
				t.Fatal(err)
			}
		}
		u.fails(1, "In the way of a command, and not a link: "+u.path(".local/bin/mcp-runtool"), "--archive", archive)
		if u.version() != "" {
			t.Errorf("%s: something was installed", place)
		}
	}

	u := newUser(t)
	u.env["HOME"] = u.path("none")
	u.fails(1, "HOME is not set to a directory", "--archive", archive)
	u.env["HOME"] = ""
	u.fails(1, "HOME is not set to a directory", "--archive", archive)
}

// CLI-1703, CLI-1704: where it all goes.
func TestPlaces(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, tc := range []struct {
		name          string
		args          []string
		env           map[string]string
		dir, bin, man string
	}{
		{"prefix", []string{"--prefix", "my own"}, nil, "my own/share/mcp-bash", "my own/bin", "my own/share/man"},
		{"variables", nil, map[string]string{"XDG_DATA_HOME": "HOME/data", "XDG_BIN_HOME": "HOME/$b`i\"n"},
			"data/mcp-bash", "$b`i\"n",
			"data/man"},
		{"next to the home", nil, map[string]string{"XDG_BIN_HOME": "HOMEm/bin"}, ".local/share/mcp-bash", "../a homem/bin",
			".local/share/man"},
		{"all", []string{"--prefix=it's"}, map[string]string{"XDG_DATA_HOME": "HOME/data"}, "it's/share/mcp-bash",
			"it's/bin", "it's/share/man"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			for name, value := range tc.env {
				u.env[name] = strings.Replace(value, "HOME", u.home, 1)
			}
			u.installs(append([]string{"--archive", archive}, tc.args...)...)
			for link, target := range map[string]string{tc.bin + "/mcp-bash": "bin/mcp-bash",
				tc.man + "/man1/mcp-bash.1": "share/man/man1/mcp-bash.1"} {
				if got, err := os.Readlink(u.path(link)); err != nil || got != u.path(tc.dir+"/"+target) {
					t.Errorf("%s: %q, %v", link, got, err)
				}
			}
			login := u.command("bash", "--rcfile", u.path(".bashrc"), "-ic", "mcp-bash --version")
			if out, err := login.Output(); err != nil || string(out) != "mcp-bash 2.0.0\n" {
				t.Errorf("a new shell: %q, %v", out, err)
			}
			u.installs(append([]string{"--uninstall"}, tc.args...)...)
			if left := u.files(); left != nil {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// atHome matches HOME/ in a path, unless it is the variable $HOME.
var atHome = regexp.MustCompile(`(^|[^$])HOME/`)

// startFiles are the files that can get our lines.
var startFiles = []string{".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zprofile",
	".config/fish/config.fish"}

// CLI-1705, CLI-1708: the changed start files, and the messages about PATH.
func TestPath(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, tc := range []struct {
		name, shell string
		files       map[string]string
		path        string // added to PATH
		args        []string
		added, says string // the files that got the line
	}{
		{"bash", "/bin/bash", nil, "", nil, ".bashrc .profile", "\nOpen a new shell, or: . 'HOME/.bashrc'\n"},
		{"bash with a profile", "/bin/bash", map[string]string{".bash_profile": ""}, "", nil, ".bashrc .bash_profile",
			"to PATH in HOME/.bash_profile\n"},
		{"bash with both", "/bin/bash", map[string]string{".bash_profile": "", ".bashrc": ""}, "", nil,
			".bashrc .bash_profile", "to PATH in HOME/.bashrc\n"},
		{"zsh", "/usr/bin/zsh", nil, "", nil, ".zshrc .zprofile", "Detected shell: zsh"},
		{"fish", "/usr/bin/fish", nil, "", nil, ".config/fish/config.fish",
			"\nOpen a new shell, or: . 'HOME/.config/fish/config.fish'\n"},
		{"ksh", "/usr/bin/ksh", nil, "", nil, ".profile", "\nLog in again, or: . 'HOME/.profile'\n"},
		{"tcsh", "/usr/bin/tcsh", nil, "", nil, "",
			"Add this to the start file of your shell: export PATH=\"$HOME/.local/bin:$PATH\""},
		{"commands by path", "/usr/bin/tcsh", nil, "", nil, "",
			"  'HOME/.local/bin/mcp-bash' new my-server && cd my-server\n" +
				"  'HOME/.local/bin/mcp-bash' run-tool hello --allow-self\n" +
				"Look at it with the Inspector:\n  eval \"$('HOME/.local/bin/mcp-bash' config --inspector)\"\n"},
		{"none", "", nil, "", nil, "", "⚠ Not on PATH: "},
		{"left alone", "/bin/bash", nil, "", []string{"--no-modify-path"}, "", "⚠ Not on PATH: "},
		{"on PATH", "/bin/bash", nil, "HOME/.local/bin", nil, "", "✓ $HOME/.local/bin already in PATH"},
		{"in the file", "/bin/bash", map[string]string{".bashrc": "export PATH=\"$HOME/.local/bin:$PATH\"\n"}, "",
			nil, ".profile",
			"$HOME/.local/bin already in HOME/.bashrc (will"},
		{"in a comment", "/bin/bash", map[string]string{".bashrc": "# export PATH=\"$HOME/.local/bin:$PATH\"\n"}, "",
			nil, ".bashrc .profile", "to PATH in HOME/.bashrc\n"},
		{"shadowed", "/bin/bash", map[string]string{"other/mcp-bash": ""}, "HOME/other:HOME/.local/bin", nil, "",
			"⚠ Another mcp-bash comes first on PATH: HOME/other/mcp-bash"},
		{"behind", "/bin/bash", map[string]string{"other/mcp-bash": ""}, "HOME/.local/bin:HOME/other", nil, "",
			"!Another mcp-bash"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.env["SHELL"] = tc.shell
			for name, content := range tc.files {
				u.write(name, content, 0o755)
			}
			if tc.path != "" {
				u.env["PATH"] = strings.ReplaceAll(tc.path, "HOME", u.home) + ":" + u.env["PATH"]
			}
			r := u.installs(append([]string{"--archive", archive}, tc.args...)...)
			want, unwanted := strings.CutPrefix(atHome.ReplaceAllString(tc.says, "${1}"+u.home+"/"), "!")
			if strings.Contains(r.out, want) == unwanted {
				t.Errorf("%q:\n%s", tc.says, r.out)
			}
			for _, name := range startFiles {
				text, _ := os.ReadFile(u.path(name))
				added := strings.Contains(string(text), "# Added by")
				if added != slices.Contains(strings.Fields(tc.added), name) {
					t.Errorf("%s: %q", name, text)
				}
			}
		})
	}
}

// CLI-1709: an uninstall removes only installed files and lines, also in start files that are links.
func TestUninstall(t *testing.T) {
	u := newUser(t)
	note, line := "# Added by the mcp-bash installer\n", "export PATH=\"$HOME/.local/bin:$PATH\"\n"
	before := "a\n" + note + "export PATH=/somewhere/else\nb\n" + note
	u.write("dotfiles/rc", before, 0o640)
	if err := os.Symlink("dotfiles/rc", u.path(".bashrc")); err != nil {
		t.Fatal(err)
	}
	u.installs("--archive", released(t, "2.0.0"))
	if got := u.read("dotfiles/rc"); got != before+note+line {
		t.Errorf("%q", got)
	}
	// Links that lead elsewhere are somebody else's.
	if err := os.Symlink("/usr/bin/true", u.path(".local/bin/mcp-true")); err != nil {
		t.Fatal(err)
	}
	u.installs("--uninstall", "--yes")
	if got := u.read("dotfiles/rc"); got != before {
		t.Errorf("%q", got)
	}
	if info, err := os.Lstat(u.path(".bashrc")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(u.path(".bashrc")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if got := u.files(); !slices.Equal(got, []string{".bashrc", ".local/bin/mcp-true", "dotfiles/rc"}) {
		t.Errorf("left: %q", got)
	}

	u.write(".local/share/mcp-bash/bin/mcp-bash", "", 0o755)
	u.fails(1, "install.sh did not make it: no INSTALLER.json", "--uninstall")
	u.read(".local/share/mcp-bash/bin/mcp-bash")

	// A backup is not an installation.
	u = newUser(t)
	u.write(".local/share/mcp-bash.backup.1.2/VERSION", "1.0.0\n", 0o644)
	u.installs("--uninstall")
	u.read(".local/share/mcp-bash.backup.1.2/VERSION")
}
