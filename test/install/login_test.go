//go:build unix

package install

import (
	"os"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1708: a new shell finds the commands, whether it is a login shell or not. It does so with each combination of
// start files that bash can read at a login. An existing start file is still read. CLI-1709: an uninstall restores all.
func TestLoginShells(t *testing.T) {
	checkout.Needs(t, "zsh")
	archive := released(t, "2.0.0")
	profiles := []string{".bash_profile", ".bash_login", ".profile"}
	for _, tc := range []struct {
		shell  string
		starts []string // the shells that must find the commands
		files  []string // the start files, of which each combination can exist
	}{
		{"bash", []string{"bash -l -c", "bash -l -i -c", "bash -i -c"}, append(profiles, ".bashrc")},
		{"sh", []string{"sh -l -c"}, profiles},
		{"zsh", []string{"zsh -l -c", "zsh -l -i -c", "zsh -i -c"}, []string{".zshrc", ".zprofile"}},
	} {
		for set := range 1 << len(tc.files) {
			var files []string
			for i, name := range tc.files {
				if set&(1<<i) != 0 {
					files = append(files, name)
				}
			}
			t.Run(tc.shell+" "+strings.Join(files, " "), func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				u.env["SHELL"] = "/usr/bin/" + tc.shell
				for _, name := range files {
					u.write(name, "READ=\"${READ-}"+name+" \"\n", 0o644)
				}
				before := map[string]string{}
				run := func(start string) string {
					cmd := u.command(append(strings.Fields(start), `command -v mcp-bash; echo "read $READ"`)...)
					out, err := cmd.Output()
					if err != nil {
						t.Errorf("%s: %v", start, err)
					}
					return string(out)
				}
				for _, start := range tc.starts {
					before[start] = run(start)
				}
				u.installs("--archive", archive)
				for _, start := range tc.starts {
					if got, want := run(start), u.path(".local/bin/mcp-bash")+"\n"+before[start]; got != want {
						t.Errorf("%s: %q, want %q", start, got, want)
					}
				}
				u.installs("--uninstall")
				if got := u.files(); len(got) != len(files) {
					t.Errorf("left: %q, want %q", got, files)
				}
				for _, name := range files {
					if got := u.read(name); got != "READ=\"${READ-}"+name+" \"\n" {
						t.Errorf("%s: %q", name, got)
					}
				}
			})
		}
	}
}

// CLI-1708: zsh reads its start files in ZDOTDIR.
func TestZshDirectory(t *testing.T) {
	checkout.Needs(t, "zsh")
	u := newUser(t)
	u.env["SHELL"], u.env["ZDOTDIR"] = "/bin/zsh", u.path("zsh")
	if err := os.Mkdir(u.path("zsh"), 0o755); err != nil {
		t.Fatal(err)
	}
	u.installs("--archive", released(t, "2.0.0"))
	for _, start := range []string{"zsh -l -c", "zsh -i -c"} {
		out, err := u.command(append(strings.Fields(start), "command -v mcp-bash")...).Output()
		if err != nil || string(out) != u.path(".local/bin/mcp-bash")+"\n" {
			t.Errorf("%s: %q, %v", start, out, err)
		}
	}
	u.installs("--uninstall")
	if left := u.files(); left != nil {
		t.Errorf("left: %q", left)
	}
}

// CLI-1708: an upgrade of an installation whose line is only in the file of interactive shells adds it for logins.
func TestLoginLater(t *testing.T) {
	u := newUser(t)
	u.has("1.9.9")
	u.env["PATH"] = u.path(".local/bin") + ":" + u.env["PATH"]
	r := u.installs("--archive", released(t, "2.0.0"))
	if _, err := os.Stat(u.path(".profile")); err != nil || strings.Contains(r.out, "Open a new shell") {
		t.Errorf("%v: %s", err, r.out)
	}
}

// CLI-1708: a start file that is not a regular file is left alone. The message names the file for the user's line.
func TestLoginFileOdd(t *testing.T) {
	u := newUser(t)
	if err := os.Mkdir(u.path(".bash_profile"), 0o755); err != nil {
		t.Fatal(err)
	}
	u.env["SHELL"] = "/bin/bash"
	r := u.install("--archive", released(t, "2.0.0"))
	line := "  Add this to " + u.path(".bash_profile") + ": export PATH=\"$HOME/.local/bin:$PATH\"\n"
	if r.code != 0 || !strings.Contains(r.out+r.errors, line) {
		t.Errorf("it does not print %q: %+v", line, r)
	}
	for _, name := range []string{".profile", ".bash_login"} { // bash reads neither, as .bash_profile exists
		if _, err := os.Lstat(u.path(name)); err == nil {
			t.Errorf("made: %s", name)
		}
	}
}
