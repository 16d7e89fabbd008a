package runtool

import (
	"errors"
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
		var c change
		asked := 0
		err := c.declareInFile(t.Context(), root, "tool.meta.json", d, here, func(change) bool { asked++; return true })
		if err != nil || c.isEmpty() == want || asked != 1-i {
			t.Errorf("%d: %v, %v", i, c, err)
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
	var c change
	err = c.declareInFile(t.Context(), root, "tool.meta.json", d, here, func(change) bool { return true })
	if err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("%v, %v", c, err)
	}
}

// CLI-815: a change that a person refuses, or of a file that changes while the person thinks, is not made.
func TestDeclareAsks(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := filepath.Join(root.Name(), "tool.meta.json")
	d := &declaration{capabilities: []access.Capability{"Search"}}
	for _, tc := range []struct {
		answer bool
		other  string // text that another program writes
		want   error
		text   string
	}{
		{false, "", errRefused, `{"name":"x"}`},
		{true, `{"name":"y"}`, errChanged, `{"name":"y"}`},
		{true, "", nil, `{"name":"x","capabilities":["Search"]}`},
	} {
		if err := os.WriteFile(file, []byte(`{"name":"x"}`), 0o640); err != nil {
			t.Fatal(err)
		}
		var c change
		err := c.declareInFile(t.Context(), root, "tool.meta.json", d, here, func(c change) bool {
			if tc.other != "" {
				if err := os.WriteFile(file, []byte(tc.other), 0o640); err != nil {
					t.Error(err)
				}
			}
			return tc.answer
		})
		if text, _ := os.ReadFile(file); !errors.Is(err, tc.want) || string(text) != tc.text {
			t.Errorf("%v: %s, %v", tc, text, err)
		}
	}
}
