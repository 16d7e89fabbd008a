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
