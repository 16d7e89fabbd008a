//go:build unix

package installation

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/files/fsys"
)

// A user is a home with an installation in it, as install.sh leaves it before it calls Run.
type user struct {
	t     *testing.T
	home  string
	facts []string
}

func newUser(t *testing.T, facts ...string) *user {
	t.Helper()
	home, err := fsys.Physical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", "/bin/zsh")
	t.Setenv("PATH", "/usr/bin")
	tree := home + "/data/mcp-bash"
	u := &user{t: t, home: home, facts: append([]string{"dir=" + tree, "tree=" + tree, "bin=" + home + "/bin",
		"data=" + home + "/data", "path=" + home + "/bin", "home=" + home, "modify=1", "bad=✗", "good=✓"},
		facts...)}
	list := ""
	for _, name := range []string{"bin/mcp-bash", "bin/mcp-doctor.exe", "bin/mcp-jq", "share/man/man1/mcp-bash.1",
		"share/zsh/site-functions/_mcp-bash", "share/skills/mcp-bash/SKILL.md", "share/llms.txt"} {
		u.write("data/mcp-bash/"+name, "x")
		list += strings.Repeat("0", 64) + "  ./" + name + "\n"
	}
	u.write("data/mcp-bash/bin/mcp-mine", "not listed")
	u.write("data/mcp-bash/"+List, list)
	return u
}

func (u *user) write(name, text string) {
	u.t.Helper()
	file := filepath.Join(u.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o755)); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(u.home, name))
	return string(text)
}

// made lists the files of the home outside of the installation.
func (u *user) made() (list []string) {
	for _, pattern := range []string{"bin/*", "data/man/man1/*", "data/zsh/site-functions/*", ".z*"} {
		found, _ := filepath.Glob(filepath.Join(u.home, pattern))
		for _, file := range found {
			list = append(list, strings.TrimPrefix(file, u.home+"/"))
		}
	}
	return list
}

func (u *user) runs(verb string) (code int, output string) {
	u.t.Helper()
	var out bytes.Buffer
	code = Run(verb, strings.NewReader(strings.Join(u.facts, "\n")), &out, &out)
	return code, out.String()
}

// CLI-1708, CLI-1709: links and lines are made once, and removed again.
func TestLinks(t *testing.T) {
	u := newUser(t)
	want := "bin/mcp-bash bin/mcp-doctor data/man/man1/mcp-bash.1 data/zsh/site-functions/_mcp-bash .zprofile .zshrc"
	for range 2 {
		code, out := u.runs("link")
		if got := strings.Join(u.made(), " "); code != 0 || got != want || !strings.Contains(out, "Installation complete!") {
			t.Errorf("%d, %s: %s", code, got, out)
		}
		if rc := u.read(".zshrc"); strings.Count(rc, "\n") != 4 ||
			!strings.Contains(rc, "\nexport PATH=\"$HOME/bin:$PATH\"\n") ||
			!strings.Contains(rc, "\nfpath=(\"$HOME/data/zsh/site-functions\" $fpath); ") {
			t.Errorf("%s", rc)
		}
	}
	u.write("bin/mcp-other", "#!/bin/sh\n")
	if code, out := u.runs("unlink"); code != 0 || strings.Join(u.made(), " ") != "bin/mcp-other" {
		t.Errorf("%d, left %q: %s", code, u.made(), out)
	}
}

// CLI-1706: a file that is in the way of a command is found before any change.
func TestCheck(t *testing.T) {
	u := newUser(t)
	u.write("bin/mcp-bash", "#!/bin/sh\n")
	for _, verb := range []string{"check", "link"} {
		want := "✗ In the way of a command, and not a link: " + u.home + "/bin/mcp-bash\n"
		if code, out := u.runs(verb); code != 1 || out != want {
			t.Errorf("%s: %d, %s", verb, code, out)
		}
	}
	if got := u.made(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// CLI-1111: systems without links get scripts that start the programs.
func TestWrappers(t *testing.T) {
	u := newUser(t, "exe=.exe")
	u.write("bin/mcp-doctor", wrapperOf("/gone/bin/mcp-doctor.exe"))
	for range 2 {
		if code, out := u.runs("link"); code != 0 {
			t.Errorf("%d: %s", code, out)
		}
	}
	if got := u.read("bin/mcp-doctor"); got != wrapperOf(u.home+"/data/mcp-bash/bin/mcp-doctor.exe") {
		t.Errorf("%s", got)
	}
	if code, out := u.runs("unlink"); code != 0 || strings.Join(u.made(), " ") != "bin/mcp-bash" { // made without .exe
		t.Errorf("%d, left %q: %s", code, u.made(), out)
	}
}

// A stopper ends the goroutine that writes a line, as SIGKILL ends a process.
type stopper struct{ lines int }

func (s *stopper) Write(p []byte) (int, error) {
	if s.lines--; s.lines < 0 {
		panic(s)
	}
	return len(p), nil
}

// CLI-1710: the next run completes a run that was killed.
func TestKilled(t *testing.T) {
	for _, verb := range []string{"link", "unlink"} {
		for n := range 12 {
			u := newUser(t)
			u.write(".zprofile", "x=1\n")
			if verb == "unlink" {
				u.runs("link")
			}
			func() {
				defer func() { recover() }()
				Run(verb, strings.NewReader(strings.Join(u.facts, "\n")), &stopper{n}, &stopper{n})
			}()
			if err := os.Symlink(u.home+"/data/mcp-bash/bin/mcp-bash", u.home+"/bin/mcp-bash"+fresh); err != nil {
				t.Log(err) // the folder is missing
			}
			u.runs("link")
			if got := len(u.made()); got != 6 || strings.Count(u.read(".zprofile"), "\n") != 3 {
				t.Errorf("%s %d: %q", verb, n, u.made())
			}
			u.runs("unlink")
			if got := u.made(); len(got) != 1 || u.read(".zprofile") != "x=1\n" {
				t.Errorf("%s %d: left %q", verb, n, got)
			}
		}
	}
}

// A folder becomes a word that every shell reads unchanged.
func TestWord(t *testing.T) {
	j := &job{fact: map[string]string{"home": "/home/ada"}}
	for dir, want := range map[string]string{"/home/ada/bin": `"$HOME/bin"`, "/home/adam/bin": `"/home/adam/bin"`,
		"/opt/a b": `"/opt/a b"`, "/home/ada/$x": `'/home/ada/$x'`} {
		if got := j.word(dir); got != want {
			t.Errorf("%s: %s", dir, got)
		}
	}
}
