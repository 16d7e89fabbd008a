package project

import (
	"os"
	"path/filepath"
	"testing"
)

// T-62: scripts without a locale have one for UTF-8 where the system has it.
func TestLocale(t *testing.T) {
	for path, want := range map[string]string{
		"usr/lib/locale/C.utf8": "C.UTF-8", "usr/share/locale/C.UTF-8": "C.UTF-8", "lib/ld-musl-x86_64.so.1": "C.UTF-8",
		"usr/lib/locale/de_DE.utf8": "C", "": "C",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := localeIn(root); got != want {
			t.Errorf("with %s: %s", path, got)
		}
	}
	p := Open(t.TempDir(), Env{}, "/", func(string) {})
	if got := p.ToolBase(&p.Scripts.Tools)["LANG"]; got != defaultLocale() {
		t.Errorf("tools: LANG=%s", got)
	}
	p = Open(t.TempDir(), Env{"LANG": "de_DE"}, "/", func(string) {})
	if got := p.ToolBase(&p.Scripts.Tools)["LANG"]; got != "de_DE" {
		t.Errorf("tools: LANG=%s", got)
	}
}
