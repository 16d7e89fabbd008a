package scaffold

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// removable returns a project whose tool "plan" alone needs terraform and TOKEN.
func removable(t *testing.T) *project.Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"server.d/server.meta.json":  `{"name":"demo","env":{"MCPBASH_TOOL_ENV_ALLOWLIST":"OTHER,TOKEN"}}`,
		"server.d/requirements.json": `{"dependencies":[{"name":"terraform"},{"name":"jq"}]}`,
		"tools/plan/tool.sh":         "#!/bin/sh\n",
		"tools/plan/.wrap.json":      `{"command":["plan.sh"],"requires":["terraform"],"variables":["TOKEN"],"files":{}}`,
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return project.Open(root, project.Env{}, root, func(text string) { t.Log(text) })
}

// ADD-40: a removal that fails keeps the tool. A variable that is removed permits no other one.
func TestRemove(t *testing.T) {
	p := removable(t)
	r, err := PlanRemoval(p, "plan")
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := Remove(ctx, p, r); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
	if !isThere(filepath.Join(p.Tools, "plan", "tool.sh")) {
		t.Error("a removal that failed removed the tool")
	}
	if err := Remove(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(p.Tools); err != nil || len(list) > 0 {
		t.Errorf("%v %v, want no files", list, err)
	}
	for name, want := range map[string]string{
		"server.meta.json":  `"MCPBASH_TOOL_ENV_MODE": "minimal"`,
		"requirements.json": `"name": "jq"`,
	} {
		text, err := os.ReadFile(filepath.Join(p.Server, name))
		if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "TOKEN") ||
			strings.Contains(string(text), "terraform") {
			t.Errorf("%s: %s %v, want %s", name, text, err, want)
		}
	}
}

// ADD-42: other uses are not searched for in more than 5000 files.
func TestRemoveLimit(t *testing.T) {
	p := removable(t)
	for i := range maxSearched {
		if err := os.WriteFile(filepath.Join(p.Root, fmt.Sprint("f", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := PlanRemoval(p, "plan"); err != nil {
		t.Fatalf("%d files: %v", maxSearched, err)
	}
	if err := os.WriteFile(filepath.Join(p.Root, "one-more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanRemoval(p, "plan"); err == nil || !strings.Contains(err.Error(), "more than 5000 files") {
		t.Errorf("%v, want an error about more than 5000 files", err)
	}
}
