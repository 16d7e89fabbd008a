package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
)

// WRAP-36: a tool may start the program that a shell script runs in its place.
func TestInPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "brew")
	if err := os.WriteFile(file, []byte("#!/bin/sh\nexec /opt/tea/brew \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := &recipe.Recipe{Program: "brew", Capabilities: []string{}, Starts: []string{"kettle"}}
	tool, err := NewTool(&project.Project{Root: dir}, r, wrap.Source{}, []string{"brew"}, file, "", wrap.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tool.Files("") {
		if f.Name == "tool.meta.json" {
			text := strings.Join(strings.Fields(f.Text), "")
			if !strings.Contains(text, `"exec":["brew","/opt/tea/brew","kettle"]`) {
				t.Error(f.Text)
			}
			return
		}
	}
	t.Error("no metadata")
}
