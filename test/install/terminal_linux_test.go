package install

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/pty"
)

// CLI-1706, CLI-109: on a terminal the user is asked, wherever standard input comes
// from, and sees colours.
func TestTerminal(t *testing.T) {
	newer := released(t, "2.0.0")
	for _, tc := range []struct {
		name, question, answer string
		args                   []string
		code                   int
		version                string
	}{
		{"no", `Overwrite\? \[y/N\] `, "n\n", []string{"--archive", newer}, 3, "1.9.9"},
		{"nothing", `Overwrite\? \[y/N\] `, "\n", []string{"--archive", newer}, 3, "1.9.9"},
		{"end", `Overwrite\? \[y/N\] `, "\x04", []string{"--archive", newer}, 3, "1.9.9"},
		{"yes", `Overwrite\? \[y/N\] `, "y\n", []string{"--archive", newer}, 0, "2.0.0"},
		{"option", `Overwriting \(--yes flag\)`, "", []string{"--archive", newer, "--yes"}, 0, "2.0.0"},
		{"keep", `Remove\? \[y/N\] `, "n\n", []string{"--uninstall"}, 3, "1.9.9"},
		{"remove", `Remove\? \[y/N\] `, "yes\n", []string{"--uninstall"}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := newUser(t)
			u.has("1.9.9")
			cmd := u.command(append([]string{"sh", "-c", `true | sh "$@"`, "sh", filepath.Join(checkout.Root(), "install.sh")},
				tc.args...)...)
			s := pty.Start(t, cmd)
			s.Expect(tc.question)
			s.Type(tc.answer)
			code, screen := s.Wait()
			if code != tc.code || u.version() != tc.version {
				t.Errorf("%d, now there is %q:\n%s", code, u.version(), screen)
			}
			if tc.version == "2.0.0" && !strings.Contains(screen, "\x1b[32m✓\x1b[0m") {
				t.Errorf("no colours:\n%q", screen)
			}
		})
	}
}

// CLI-1709: on a terminal, an uninstall asks whether it should remove the entries of clients. Only commands that remove
// run.
func TestTerminalEntries(t *testing.T) {
	const program = "#!/bin/sh\ncase \"$*\" in\n--version) echo mcp-bash 2.0.0 ;;\n" +
		"config*) echo \"$*\" >>\"$HOME/ran\" ;;\nesac\n"
	const lister = "#!/bin/sh\n[ ! -f \"$HOME/ran\" ] || exit 0\n" +
		"echo 'Cursor: demo in file'\necho '  mcp-bash config --client cursor --name \"a b\" --remove'\n" +
		"echo 'Zed: old in file: the program /gone does not exist'\necho '  mcp-bash config --client zed --apply'\n"
	archive := unverified(t, pack(with("2.0.0", map[string]string{"mcp-bash/bin/mcp-bash": program,
		"mcp-bash/bin/mcp-scaffold": lister})))
	for answer, ran := range map[string]string{"n": "", "y": "config --client cursor --name a b --remove\n"} {
		u := newUser(t)
		u.installs("--archive", archive)
		s := pty.Start(t, u.command("sh", filepath.Join(checkout.Root(), "install.sh"), "--uninstall"))
		s.Expect(`The files of clients have entries for it. These commands remove them:\s+Cursor: demo in file\s`)
		s.Expect(`Run these commands now\? \[y/N\] `)
		s.Type(answer + "\n")
		s.Expect(`Remove\? \[y/N\] `)
		s.Type("y\n")
		code, screen := s.Wait()
		got := ""
		if ran != "" {
			got = u.read("ran")
		}
		if left := strings.Contains(screen, "The files of clients still have these entries"); code != 0 || got != ran ||
			left != (ran == "") {
			t.Errorf("answer %s: %d, ran %q\n%s", answer, code, got, screen)
		}
		if r := u.installs("--uninstall"); strings.Contains(r.out, "Run these commands now") {
			t.Errorf("asked without a terminal: %s", r.out)
		}
	}
}
