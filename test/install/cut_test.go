//go:build unix

package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1714: an incomplete script does nothing. The test cuts it at each line, and at each of the first and the
// last bytes. Its options and a setting would make any part that runs uninstall or
// install. With -short, the test cuts at every 24th of these places.
func TestCut(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(checkout.Root(), "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(script)
	whole := len(strings.TrimRight(text, "\n"))
	var sizes []int
	for i := range whole {
		if text[i] == '\n' || i < 50 || whole-i < 100 {
			sizes = append(sizes, i)
		}
	}
	archive := released(t, "2.0.0")
	for _, shell := range [][]string{{"sh"}, {"bash"}} {
		t.Run(shell[0], func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err)
			}
			piped := func(u *user, size int, args ...string) result {
				cmd := u.command(slices.Concat(shell, []string{"-s", "--"}, args)...)
				cmd.Stdin = strings.NewReader(text[:size])
				return u.runs(cmd)
			}
			u := newUser(t)
			u.has("1.9.9")
			u.env["MCPBASH_INSTALL_ARCHIVE_URL"] = archive
			before := u.files()
			for n, size := range sizes {
				if testing.Short() && whole-size > 10 && n%24 != 0 || shell[0] == "bash" && whole-size > 100 && n%8 != 0 {
					continue // Bash is slow
				}
				r := piped(u, size, "--uninstall", "--yes")
				if r.out != "" {
					t.Fatalf("cut at %d of %d: %+v", size, whole, r)
				}
			}
			if after := u.files(); u.version() != "1.9.9" || !slices.Equal(before, after) {
				t.Errorf("%q, before %q", after, before)
			}
			for _, size := range []int{whole, len(text)} { // with and without the last line break
				u := newUser(t)
				u.has("1.9.9")
				if r := piped(u, size, "--archive", archive); r.code != 0 || u.version() != "2.0.0" {
					t.Errorf("whole: %+v", r)
				}
			}
		})
	}
}
