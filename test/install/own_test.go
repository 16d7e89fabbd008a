//go:build unix

package install

import (
	"archive/tar"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/test/checkout"
)

// mine are files that a user put into an installation, by name.
var mine = map[string]string{
	"runtimes/linux-arm64/mcp-bash": "a server", "notes.txt": "notes", ".hidden": "h", "..odd": "o",
	"docs/mine.md": "mine", "bin/mcp-mine": "#!/bin/sh\n", "a name\nof two lines": "x", "[a-z]*": "glob",
}

// CLI-1713: the user's files in the installation survive an upgrade and an uninstall, with their modes. The
// uninstall removes all others. A changed file is kept under another name.
func TestOwnFiles(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, shell := range shells(t) {
		t.Run(shell[0], func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.shell = shell
			u.installs("--archive", released(t, "1.9.9"))
			in := func(name string) string { return filepath.Join(".local/share/mcp-bash", name) }
			for name, text := range mine {
				u.write(in(name), text, 0o640)
			}
			u.write(in("runtimes/secret/key"), "k", 0o600)
			u.write(in("sdk/tool-sdk.sh"), "# changed\n", 0o644)
			if err := os.Chmod(u.path(in("runtimes/secret")), 0o700); err != nil {
				t.Fatal(err)
			}
			for name, target := range map[string]string{"link": "/etc/passwd", "lib": "..", "nowhere": "/none"} {
				if err := os.Symlink(target, u.path(in(name))); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(u.path(in("pipe")), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(u.path(in("empty")), 0o750); err != nil {
				t.Fatal(err)
			}
			check := func(when string) {
				t.Helper()
				for name, text := range mine {
					info, err := os.Stat(u.path(in(name)))
					if err != nil || u.read(in(name)) != text || info.Mode().Perm() != 0o640 {
						t.Errorf("%s: %q: %v", when, name, err)
					}
				}
				for name, mode := range map[string]os.FileMode{"runtimes/secret": 0o700 | os.ModeDir, "empty": 0o750 | os.ModeDir,
					"runtimes/secret/key": 0o600, "pipe": 0o600 | os.ModeNamedPipe} {
					if info, err := os.Lstat(u.path(in(name))); err != nil || info.Mode() != mode {
						t.Errorf("%s: %s: %v, %v", when, name, info, err)
					}
				}
				for name, target := range map[string]string{"link": "/etc/passwd", "lib": "..", "nowhere": "/none"} {
					if got, err := os.Readlink(u.path(in(name))); err != nil || got != target {
						t.Errorf("%s: %s: %q, %v", when, name, got, err)
					}
				}
				if got := u.read(in("sdk/tool-sdk.sh.saved")); got != "# changed\n" {
					t.Errorf("%s: what the user changed: %q", when, got)
				}
				if _, err := os.Lstat(u.path(".local/bin/mcp-mine")); err == nil {
					t.Errorf("%s: there is a link to a program of the user", when)
				}
			}
			for range 2 {
				r := u.installs("--archive", archive)
				if got := u.version(); got != "2.0.0" {
					t.Fatalf("there is %q", got)
				}
				check("upgrade")
				for _, line := range []string{"✓ Kept, as it is yours: " + u.path(in("runtimes")) + "\n",
					"✓ Kept, as it is yours: " + u.dir() + "/a name?of two lines\n"} {
					if !strings.Contains(r.out, line) {
						t.Errorf("it does not say %q:\n%s", line, r.out)
					}
				}
			}
			for range 2 {
				u.installs("--uninstall")
				check("uninstall")
			}
			left := u.files()
			for _, name := range []string{"bin/mcp-bash", "VERSION", "sdk/tool-sdk.sh", "../../bin/mcp-bash"} {
				if _, err := os.Lstat(u.path(in(name))); err == nil {
					t.Errorf("left: %s", name)
				}
			}
			// It can be installed again, and nothing of the user's is lost then either.
			u.installs("--archive", archive)
			check("install")
			for name := range mine {
				os.Remove(u.path(in(name)))
			}
			for _, name := range []string{"link", "lib", "nowhere", "pipe", "empty", "runtimes", "docs",
				"sdk/tool-sdk.sh.saved"} {
				if err := os.RemoveAll(u.path(in(name))); err != nil {
					t.Fatal(err)
				}
			}
			u.installs("--uninstall")
			if left := u.files(); left != nil {
				t.Errorf("left: %q", left)
			}
			if len(left) < len(mine) {
				t.Errorf("%q", left)
			}
		})
	}
}

// CLI-1713: a user's file never makes install.sh remove or overwrite a file of a new version. Names in a list
// never lead out of the installation, or through a link in it.
func TestOwnFilesApart(t *testing.T) {
	u := newUser(t)
	u.installs("--archive", released(t, "1.9.9"))
	u.write(".local/share/mcp-bash/docs/new.md", "mine", 0o644)
	u.write(".local/share/mcp-bash/same.md", "same", 0o644)
	r := u.installs("--archive", unverified(t, pack(with("2.0.0",
		map[string]string{"mcp-bash/docs/new.md": "ours", "mcp-bash/same.md": "same"}))))
	if u.read(".local/share/mcp-bash/docs/new.md") != "ours" ||
		u.read(".local/share/mcp-bash/docs/new.md.saved") != "mine" ||
		!strings.Contains(r.out, "⚠ Changed by you, and kept as new.md.saved: "+u.dir()+"/docs/new.md") {
		t.Errorf("%s", r.out)
	}
	if _, err := os.Lstat(u.path(".local/share/mcp-bash/same.md.saved")); err == nil {
		t.Error("a file that is the same was kept twice")
	}

	u.write("elsewhere/guide.md", "guide", 0o644)
	if err := os.Symlink(u.path("elsewhere"), u.path(".local/share/mcp-bash/more")); err != nil {
		t.Fatal(err)
	}
	list := u.read(".local/share/mcp-bash/INSTALLED.sha256")
	for _, name := range []string{"more/guide.md", "../../../elsewhere/guide.md"} {
		list += sum([]byte("guide")) + "  ./" + name + "\n"
	}
	u.write(".local/share/mcp-bash/INSTALLED.sha256", list, 0o644)
	u.installs("--uninstall")
	if u.read("elsewhere/guide.md") != "guide" {
		t.Error("it is gone")
	}
}

// CLI-1706: a folder that install.sh did not make is never replaced, nor removed.
func TestFolderOfOthers(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, files := range [][]string{{"bin/mcp-bash", "VERSION", "sdk/tool-sdk.sh", ".git/config"}, {"bin/mcp-bash.exe"},
		{"x"}} {
		u := newUser(t)
		for _, name := range files {
			u.write(".local/share/mcp-bash/"+name, "mine", 0o755)
		}
		before := u.files()
		for _, args := range [][]string{{"--archive", archive, "--yes"}, {"--uninstall", "--yes"}} {
			u.fails(1,
				"exists but doesn't look like an mcp-bash installation\n  (install.sh did not make it: no INSTALLER.json)",
				args...)
		}
		if after := u.files(); !slices.Equal(before, after) {
			t.Errorf("%q, before %q", after, before)
		}
	}
	// A link that leads elsewhere is not an installation, even if it begins in the folder of versions.
	for _, target := range []string{"../../elsewhere", "mcp-bash.versions/../elsewhere",
		"mcp-bash.versions/x/../../elsewhere"} {
		u := newUser(t)
		u.write("elsewhere/INSTALLER.json", "{}", 0o644)
		u.write(".local/share/elsewhere/INSTALLER.json", "{}", 0o644)
		u.write(".local/share/mcp-bash.versions/x/INSTALLER.json", "{}", 0o644)
		if err := os.Symlink(target, u.dir()); err != nil {
			t.Fatal(err)
		}
		u.fails(1, "exists but doesn't look like an mcp-bash installation", "--archive", archive)
		if got, err := os.Readlink(u.dir()); err != nil || got != target {
			t.Errorf("%s: %s, %v", target, got, err)
		}
	}
}

// CLI-1712: an old installation can contain any files. install.sh never blocks on one, and reads a bounded part of it.
func TestOddInstallation(t *testing.T) {
	archive := released(t, "2.0.0")
	pipe := func(file string) error { return errors.Join(os.RemoveAll(file), syscall.Mkfifo(file, 0o644)) }
	large := func(file string) error {
		return errors.Join(os.RemoveAll(file), os.WriteFile(file, nil, 0o644), os.Truncate(file, 2<<30))
	}
	folder := func(file string) error { return errors.Join(os.RemoveAll(file), os.Mkdir(file, 0o755)) }
	for _, tc := range []struct {
		name    string
		put     func(file string) error
		refused string // the reason; "" if the installation is replaced
	}{
		{".local/share/mcp-bash/VERSION", pipe, ""},
		{".local/share/mcp-bash/VERSION", large, ""},
		{".local/share/mcp-bash/VERSION", folder, ""},
		{".local/share/mcp-bash/bin/mcp-bash", pipe, ""},
		{".local/share/mcp-bash/sdk", pipe, ""},
		{".local/share/mcp-bash/INSTALLED.sha256", large, "Not a list of installed files"},
		{".local/share/mcp-bash/INSTALLER.json", pipe, "doesn't look like an mcp-bash installation"},
		{".local/bin/mcp-bash", large, "In the way of a command"},
		{".local/bin/mcp-old", large, ""},
		{".local/share/mcp-bash.versions/lock", large, "Timed out waiting for doctor fix lock"},
		{".local/share/mcp-bash.versions/.stage", pipe, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.has("1.9.9")
			file := u.path(tc.name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), tc.put(file)); err != nil {
				t.Fatal(err)
			}
			if tc.refused != "" {
				u.fails(1, tc.refused, "--archive", archive)
				return
			}
			if r := u.install("--archive", archive); r.code != 0 || u.version() != "2.0.0" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// CLI-1715: a path that would end a line of a start file, or be two directories on PATH, is refused.
func TestOddPlaces(t *testing.T) {
	archive := released(t, "2.0.0")
	u := newUser(t)
	for _, odd := range []string{"a\nb", "x\n", "a\tb", "\x1b[2J", "a\x7f"} {
		r := u.fails(2, "The path contains a control character", "--prefix", u.path(odd), "--archive", archive)
		if strings.ContainsAny(strings.ReplaceAll(r.errors, "\n", ""), "\t\x1b\x7f") || strings.Count(r.errors, "\n") != 2 {
			t.Errorf("%q", r.errors)
		}
		u.env["XDG_BIN_HOME"] = u.path(odd)
		u.fails(2, "The path contains a control character", "--archive", archive)
		delete(u.env, "XDG_BIN_HOME")
	}
	u.fails(2, "A colon separates directories in PATH", "--archive", archive, "--prefix", u.path("a:b"))
	if err := os.MkdirAll(u.path("two\nlines"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("two\nlines", u.path("link")); err != nil {
		t.Fatal(err)
	}
	u.fails(2, "The path contains a control character", "--archive", archive, "--prefix", u.path("link"))
	if got := u.files(); !slices.Equal(got, []string{"link"}) {
		t.Errorf("%q", got)
	}
}

// CLI-1708: install.sh never blocks on a start file that is not a regular file, and does not change it.
func TestStartFileThatIsNone(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, shell := range []string{"bash", "zsh"} {
		u := newUser(t)
		u.env["SHELL"] = "/bin/" + shell
		rc := u.path("." + shell + "rc")
		if err := syscall.Mkfifo(rc, 0o600); err != nil {
			t.Fatal(err)
		}
		r := u.installs("--archive", archive)
		if !strings.Contains(r.out, "⚠ Not a regular file, and left as it is: "+rc+"\n  Add this to "+rc+": ") {
			t.Errorf("%s", r.out)
		}
		u.installs("--uninstall")
		if info, err := os.Lstat(rc); err != nil || info.Mode().Type() != os.ModeNamedPipe {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// CLI-1709: a start file that was there stays, empty or not; one that install.sh made goes unless
// something else is in it.
func TestStartFileStays(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, tc := range []struct {
		name, before, added, after string
		there, left                bool
	}{
		{"none", "", "", "", false, false},
		{"none, and the user adds to it", "", "alias l=ls\n", "alias l=ls\n", false, true},
		{"empty", "", "", "", true, true},
		{"a line", "x=1\n", "", "x=1\n", true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			if tc.there {
				u.write(".bashrc", tc.before, 0o600)
			}
			for range 2 {
				u.installs("--archive", archive)
			}
			u.write(".bashrc", u.read(".bashrc")+tc.added, 0o644)
			u.installs("--uninstall")
			text, err := os.ReadFile(u.path(".bashrc"))
			if string(text) != tc.after || (err == nil) != tc.left {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// CLI-1709: uninstalling removes our lines from a start file and keeps its rights. If it cannot keep them, it keeps the
// lines and prints a message.
func TestStartFileRights(t *testing.T) {
	u := newUser(t)
	u.write(".bashrc", "x=1\n", 0o640)
	if err := os.Link(u.path(".bashrc"), u.path("other name")); err != nil {
		t.Fatal(err)
	}
	u.installs("--archive", released(t, "2.0.0"))
	text := u.read(".bashrc")
	r := u.installs("--uninstall")
	if u.read(".bashrc") != text || u.read("other name") != text || !strings.Contains(r.out,
		"⚠ Left as it is: "+u.path(".bashrc")+" (it has other names, or rights that cannot be copied)\n  Remove this line") {
		t.Errorf("%s", r.out)
	}
}

// CLI-1710: the next run removes the copy of a start file that a killed run left next to it.
func TestStartFileCopy(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, args := range [][]string{{"--archive", archive}, {"--uninstall"}} {
		u := newUser(t)
		u.has("1.9.9")
		u.write("settings/zshrc", "x=1\n", 0o644)
		if err := os.Symlink("settings/zshrc", u.path(".zshrc")); err != nil {
			t.Fatal(err)
		}
		u.write(".bashrc.mcp-bash-new", "x=1\n", 0o644)
		u.write("settings/zshrc.mcp-bash-new", "x=1\n", 0o644)
		u.installs(args...)
		if left := u.leftovers(); left != nil {
			t.Errorf("%s leaves %q", args, left)
		}
		if u.read("settings/zshrc") != "x=1\n" {
			t.Errorf("%s changes .zshrc", args)
		}
	}
}

// CLI-1716: install.sh ignores the set-user-ID, set-group-ID and sticky bits of an archive.
func TestNoSetUserID(t *testing.T) {
	files := stub("2.0.0")
	archive := packAs(files, map[string]int64{"mcp-bash/bin/mcp-bash": 0o7777, "mcp-bash/VERSION": 0o4666},
		tar.Header{Name: "mcp-bash/sdk/", Mode: 0o7777, Typeflag: tar.TypeDir})
	u := newUser(t)
	r := u.runs(u.command("sh", filepath.Join(checkout.Root(), "install.sh"), "--archive", unverified(t, archive)))
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for name, want := range map[string]os.FileMode{"bin/mcp-bash": 0o755, "VERSION": 0o644, "sdk": 0o755 | os.ModeDir} {
		if info, err := os.Stat(filepath.Join(u.dir(), name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
