//go:build unix

package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1705, CLI-1708, CLI-1709: the files of an installation, in each shell, and an uninstall that
// leaves none of them.
func TestArchive(t *testing.T) {
	archive := released(t, "2.0.0")
	for _, shell := range shells(t) {
		t.Run(shell[0], func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.shell = shell
			u.write(".bashrc", "alias ll='ls -l'", 0o600) // without an end of line
			r := u.installs("--archive", archive)
			for _, want := range []string{"\nmcp-bash Installer\n==================\n", "Install location: " +
				u.dir() + "\n",
				"✓ Archive checksum verified (SHA256SUMS)\n✓ Installed from archive\n",
				"✓ Symlinked " + u.path(".local/bin/mcp-bash") + " → " + u.dir() + "/bin/mcp-bash\n",
				"✓ Detected shell: bash\n✓ Added ~/.local/bin to PATH in " + u.path(".bashrc") + "\n",
				"✓ mcp-bash --version: 2.0.0\n", "\nInstallation complete!\n"} {
				if !strings.Contains(r.out, want) {
					t.Errorf("it does not say %q:\n%s", want, r.out)
				}
			}
			if got := u.version(); got != "2.0.0" {
				t.Errorf("version %q", got)
			}
			var mark map[string]any
			if err := json.Unmarshal([]byte(u.read(".local/share/mcp-bash/INSTALLER.json")), &mark); err != nil ||
				mark["source"] != "archive" || mark["verified"] != true || mark["ref"] != "" {
				t.Errorf("%v, %v", mark, err)
			}
			for link, target := range map[string]string{"bin/mcp-bash": "bin/mcp-bash",
				"bin/mcp-runtool":                               "bin/mcp-runtool",
				"share/man/man1/mcp-bash.1":                     "share/man/man1/mcp-bash.1",
				"share/bash-completion/completions/mcp-runtool": "share/bash-completion/completions/mcp-runtool"} {
				if got, err := os.Readlink(u.path(".local/" + link)); err != nil || got != filepath.Join(u.dir(),
					target) {
					t.Errorf("%s: %q, %v", link, got, err)
				}
			}
			login := u.command("bash", "--rcfile", u.path(".bashrc"), "-ic", "mcp-runtool --version")
			if out, err := login.Output(); err != nil || string(out) != "mcp-runtool 2.0.0\n" {
				t.Errorf("a new shell: %q, %v", out, err)
			}

			rc := u.read(".bashrc")
			want := "alias ll='ls -l'\n# Added by the mcp-bash installer\nexport PATH=\"$HOME/.local/bin:$PATH\"\n"
			if rc != want {
				t.Errorf("%q", rc)
			}
			again := u.installs("--archive", archive)
			for _, want := range []string{"already in " + u.path(".bashrc"),
				"Auto-confirming due to no TTY available"} {
				if !strings.Contains(again.out, want) {
					t.Errorf("it does not say %q:\n%s", want, again.out)
				}
			}
			if u.read(".bashrc") != rc {
				t.Errorf("again: %q", u.read(".bashrc"))
			}

			u.write("project/tools/x", "mine", 0o644)
			u.write(".local/bin/mcp-other", "not ours", 0o755)
			u.installs("--uninstall")
			if got := u.files(); !slices.Equal(got, []string{".bashrc", ".local/bin/mcp-other", "project/tools/x"}) {
				t.Errorf("left: %q", got)
			}
			if got := u.read(".bashrc"); got != "alias ll='ls -l'\n" {
				t.Errorf("%q", got)
			}
			if info, err := os.Stat(u.path(".bashrc")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			u.installs("--uninstall") // nothing there is no failure
		})
	}
}

// CLI-1707: the archive has to be the one whose checksum is known.
func TestChecksum(t *testing.T) {
	good := pack(stub("2.0.0"))
	bad := pack(stub("2.0.1"))
	line := sum(good) + "  " + name("2.0.0") + "\n"
	for _, tc := range []struct {
		name    string
		content []byte
		sums    string // "" without SHA256SUMS
		args    []string
		code    int
		says    string
	}{
		{"listed", good, line, nil, 0, "✓ Archive checksum verified (SHA256SUMS)"},
		{"with a star", good, strings.Replace(line, "  ", " *", 1), nil, 0, "verified (SHA256SUMS)"},
		{"in capitals, without an end", good, strings.ToUpper(sum(good)) + "  " + name("2.0.0"), nil, 0,
			"verified (SHA256SUMS)"},
		{"among others", good, strings.Repeat("0", 64) + "  other.tar.gz\n" + line, nil, 0, "verified (SHA256SUMS)"},
		{"tampered", bad, line, nil, 1, "SHA256 checksum verification failed for: " + name("2.0.0")},
		{"not listed", good, strings.Repeat("0", 64) + "  other.tar.gz\n", nil, 1,
			"SHA256SUMS missing entry for " + name("2.0.0")},
		{"empty list", good, "\n", nil, 1, "SHA256SUMS missing entry"},
		{"no list", good, "", nil, 0, "⚠ SHA256SUMS not found next to archive; skipping archive verification"},
		{"given", good, "", []string{"--verify", sum(good)}, 0, "✓ Archive checksum verified (--verify)"},
		{"given in capitals", good, "", []string{"--verify=" + strings.ToUpper(sum(good))}, 0, "verified (--verify)"},
		{"given, whatever is listed", bad, line, []string{"--verify", sum(bad)}, 0, "verified (--verify)"},
		{"given and wrong", bad, line, []string{"--verify", sum(good)}, 1, "Expected: " + sum(good) +
			"\n  Got:      " + sum(bad)},
		{"wrong, and not even looked at", bad, line, []string{"--no-verify"}, 0, "Archive not verified"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.installs("--archive", released(t, "1.9.9"), "--yes")
			file := u.write("downloads/"+name("2.0.0"), string(tc.content), 0o644)
			if tc.sums != "" {
				u.write("downloads/SHA256SUMS", tc.sums, 0o644)
			}
			r := u.install(append([]string{"--yes", "--archive", file}, tc.args...)...)
			if r.code != tc.code || !strings.Contains(r.out+r.errors, tc.says) {
				t.Errorf("%+v", r)
			}
			if got := u.version(); (got == "1.9.9") != (tc.code != 0) {
				t.Errorf("now there is %s", got)
			}
			if left := u.leftovers(); left != nil {
				t.Errorf("left: %q", left)
			}
		})
	}
	t.Run("by its canonical name", func(t *testing.T) {
		u := newUser(t)
		file := u.write("downloads/renamed.tgz", string(good), 0o644)
		u.write("downloads/SHA256SUMS", line, 0o644)
		u.fails(1, "SHA256SUMS missing entry for renamed.tgz", "--archive", file)
		u.installs("--archive", file, "--version", "2.0.0")
		u.fails(1, "SHA256SUMS missing entry", "--archive", "file://"+file, "--version", "2.0.1")
	})
	t.Run("another version than asked for", func(t *testing.T) {
		u := newUser(t)
		u.fails(1, "It is version 2.0.0, not 2.0.1", "--archive", unverified(t, good), "--version", "2.0.1")
	})
	t.Run("nothing to verify with", func(t *testing.T) {
		u := newUser(t)
		u.env["PATH"] = u.only("sh", "uname", "dirname", "mkdir", "mktemp", "rm", "cp", "tr", "cat", "find")
		u.fails(1, "No sha256sum, shasum or openssl", "--archive", unverified(t, good), "--verify", sum(good))
		if u.version() != "" {
			t.Error("something was installed")
		}
	})
	for _, tool := range []string{"shasum", "openssl"} {
		t.Run(tool, func(t *testing.T) {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skip(tool + " is not installed")
			}
			u := newUser(t)
			u.env["PATH"] = u.only(append([]string{tool}, slices.DeleteFunc(slices.Clone(commands),
				func(name string) bool { return name == hasher() })...)...)
			u.installs("--archive", unverified(t, good), "--verify", sum(good))
			u.fails(1, "SHA256 checksum verification failed", "--archive", unverified(t, bad), "--verify", sum(good))
		})
	}
}

// only is a directory with some commands, for a PATH without the others.
func (u *user) only(names ...string) string {
	u.t.Helper()
	dir := u.t.TempDir()
	for _, name := range names {
		file, err := exec.LookPath(name)
		if err != nil {
			u.t.Fatal(err)
		}
		if err := os.Symlink(file, filepath.Join(dir, name)); err != nil {
			u.t.Fatal(err)
		}
	}
	return dir
}

// CLI-1710: install.sh rejects files that are not a release archive, and changes nothing.
func TestHostileArchive(t *testing.T) {
	wrong := func(file, content string) map[string]string { return with("2.0.0", map[string]string{file: content}) }
	for _, tc := range []struct {
		name    string
		archive []byte
		says    string
	}{
		{"leads up", pack(wrong("mcp-bash/../../evil", "x")), "The archive is not one of mcp-bash"},
		{"ends above", pack(stub("2.0.0"), tar.Header{Name: "mcp-bash/..", Typeflag: tar.TypeDir}),
			"It holds a path with '..'"},
		{"absolute", pack(wrong("/tmp/evil", "x")), "something outside of mcp-bash/"},
		{"another folder", pack(wrong("evil/x", "x")), "something outside of mcp-bash/"},
		{"like ours", pack(wrong("mcp-bashful/x", "x")), "something outside of mcp-bash/"},
		{"link", pack(stub("2.0.0"), tar.Header{Name: "mcp-bash/l", Linkname: "/etc", Typeflag: tar.TypeSymlink}),
			"It holds links or devices"},
		{"hard link", pack(stub("2.0.0"), tar.Header{Name: "mcp-bash/l", Linkname: "mcp-bash/VERSION",
			Typeflag: tar.TypeLink}),
			"It holds links or devices"},
		{"pipe", pack(stub("2.0.0"), tar.Header{Name: "mcp-bash/p", Typeflag: tar.TypeFifo}),
			"It holds links or devices"},
		{"device", pack(stub("2.0.0"), tar.Header{Name: "mcp-bash/d", Typeflag: tar.TypeChar}),
			"It holds links or devices"},
		{"cut", pack(stub("2.0.0"))[:200], "Not an archive"},
		{"text", []byte("hello"), "Not an archive"},
		{"nothing", nil, "Not an archive"},
		{"no SDK", pack(wrong("mcp-bash/sdk/tool-sdk.sh", "")), "It is not a whole installation"},
		{"no VERSION", pack(wrong("mcp-bash/VERSION", "")), "It is not a whole installation"},
		{"no program", pack(wrong("mcp-bash/bin/mcp-bash", "")), "It is not a whole installation"},
		{"no version", pack(wrong("mcp-bash/VERSION", "$(touch evil)\n")), "Its VERSION is not a version"},
		{"long version", pack(wrong("mcp-bash/VERSION", "1.2."+strings.Repeat("3", 40))),
			"Its VERSION is not a version"},
		{"other program", pack(wrong("mcp-bash/bin/mcp-bash", "#!/bin/sh\necho mcp-bash 1.0.0\n")),
			"or is not version 2.0.0"},
		{"other system", pack(wrong("mcp-bash/bin/mcp-bash", "\x7fELF")), "does not run here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.installs("--archive", released(t, "1.9.9"))
			before := u.files()
			u.fails(1, tc.says, "--archive", unverified(t, tc.archive))
			if busybox, err := exec.LookPath("busybox"); err == nil { // its tar lists links in another form
				u.env["PATH"] = u.only(slices.DeleteFunc(slices.Clone(commands),
					func(name string) bool { return name == "tar" })...)
				if err := os.Symlink(busybox, filepath.Join(u.env["PATH"], "tar")); err != nil {
					t.Fatal(err)
				}
				u.fails(1, tc.says, "--archive", unverified(t, tc.archive))
			}
			if got := u.version(); got != "1.9.9" {
				t.Errorf("now there is %q", got)
			}
			if after := u.files(); !slices.Equal(before, after) {
				t.Errorf("%q, before %q", after, before)
			}
		})
	}
	u := newUser(t)
	u.fails(1, "There is no such archive: ./none.tar.gz", "--archive", "./none.tar.gz")
}

// CLI-1114: an archive with too many files, or too many bytes, is not unpacked.
func TestArchiveIsBounded(t *testing.T) {
	files := stub("2.0.0")
	for i := range 20_001 {
		files["mcp-bash/lib/"+strconv.Itoa(i)] = "x"
	}
	zeros := func(count int) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(make([]byte, count)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	// Members of a gzip file follow each other: the first is a tar file.
	large := append(pack(stub("2.0.0")), bytes.Repeat(zeros(1<<24), 1<<6)...)
	for says, content := range map[string][]byte{
		"It holds more than 20000 files": pack(files), "Not an archive, or larger than 1073741824 bytes": large,
	} {
		u := newUser(t)
		u.has("1.9.9")
		u.fails(1, says, "--archive", unverified(t, content))
		if got := u.version(); got != "1.9.9" || u.leftovers() != nil {
			t.Errorf("now there is %s, and %q", got, u.leftovers())
		}
	}
}

// A tree whose files anybody could change would not be believed by its own server.
func TestModes(t *testing.T) {
	u := newUser(t)
	open := pack(stub("2.0.0"), tar.Header{Name: "mcp-bash/lib/", Mode: 0o777, Typeflag: tar.TypeDir})
	cmd := u.command("sh", "-c", `umask 0 && exec sh "$@"`, "sh", filepath.Join(checkout.Root(), "install.sh"),
		"--archive", unverified(t, open))
	if r := u.runs(cmd); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for file, want := range map[string]os.FileMode{"": 0o755, "lib": 0o755, "bin/mcp-bash": 0o755, "VERSION": 0o644} {
		if info, err := os.Stat(filepath.Join(u.dir(), file)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", file, info.Mode(), err)
		}
	}
}
