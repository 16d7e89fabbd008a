package runtool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/registry/access"
)

// CLI-815, CLI-712: --learn --write changes only the text of a metadata file, or fails.
func TestDeclareKeepsAttributes(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := filepath.Join(root.Name(), "tool.meta.json")
	if err := os.WriteFile(file, []byte(`{"name":"x"}`), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(file, "user.note", []byte("mine"), 0); err != nil {
		t.Skip(err)
	}
	d := &declaration{capabilities: []access.Capability{"Search"}}
	for i, want := range []bool{true, false} {
		changed, err := declareInFile(t.Context(), root, "tool.meta.json", d)
		if err != nil || changed != want {
			t.Errorf("%d: %v, %v", i, changed, err)
		}
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(file, "user.note", value); err != nil || string(value[:n]) != "mine" {
		t.Errorf("%q, %v", value, err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "Search") {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.Link(file, file+".other"); err != nil {
		t.Fatal(err)
	}
	d.capabilities = []access.Capability{"Network"}
	if changed, err := declareInFile(t.Context(), root, "tool.meta.json", d); err == nil || changed ||
		!strings.Contains(err.Error(), "hard links") {
		t.Errorf("%v, %v", changed, err)
	}
}
