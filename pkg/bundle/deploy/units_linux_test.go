package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// H-705: systemd accepts the units without a warning, and gives them an exposure of at most 2.0 of 10. The tests with
// the tag cluster run the units.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; left out: what systemd says of the units")
	}
	r, err := Make(demo(), Options{Format: "systemd", Host: "mcp.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var paths []string
	for _, f := range r.Files {
		// The program of the unit need not be installed here.
		text := strings.ReplaceAll(f.Text, "/usr/local/bin/mcp-bash", "/bin/sh")
		paths = append(paths, filepath.Join(dir, f.Name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), analyze, append([]string{"verify", "--man=no"}, paths...)...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	cmd = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", paths[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("security: %v\n%s", err, out)
	}
}
