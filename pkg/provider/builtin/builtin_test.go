package builtin

import (
	"path/filepath"
	"slices"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
)

// RES-1, RES-61, RES-90, RES-91: the built-in providers and their roots.
func TestNew(t *testing.T) {
	for name, want := range map[string]bool{"file": true, "echo": true, "https": true, "ui": true, "git": true,
		"": false, "git+https": false, "FILE": false, "../file": false} {
		if got := New(name, provider.Config{Env: project.Env{}}) != nil; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	root := t.TempDir()
	c := provider.Config{Env: project.Env{"HOME": root}, Root: root, Resources: filepath.Join(root, "resources"),
		MoreRoots: func() []string { return []string{"/client"} }}
	if got := c.FileRoots(); !slices.Equal(got, []string{c.Resources, "/client"}) {
		t.Errorf("%q", got)
	}
	list := string(filepath.ListSeparator)
	c.Env["MCP_RESOURCES_ROOTS"] = list + "docs/../docs" + list + "~/x" + list + root + list
	if got := c.FileRoots(); !slices.Equal(got, []string{filepath.Join(root, "docs"), filepath.Join(root, "x"), root}) {
		t.Errorf("%q", got)
	}
	c.Env["MCP_RESOURCES_ROOTS"] = list // an empty list: nothing may be read
	if got := c.FileRoots(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
