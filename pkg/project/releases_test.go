package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CLI-1708: an unreadable record of the installation names no sources.
func TestCheckoutRecord(t *testing.T) {
	home := t.TempDir()
	for text, want := range map[string]string{
		`{"checkout":"/a \"b\"\\"}`: `/a "b"\`, `{"checkout":1}`: "", `{"checkout":`: "", `[]`: "", ``: "", "{}": "",
		`{"checkout":"` + strings.Repeat("a", 64<<10) + `"}`: "",
	} {
		if err := os.WriteFile(filepath.Join(home, InstallerFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Checkout(home); got != want {
			t.Errorf("%.60s: %.60q", text, got)
		}
	}
	if got := Checkout(""); got != "" {
		t.Errorf("%q", got)
	}
}
