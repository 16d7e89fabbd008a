// Package servertest makes the parts of a server in a test's process: a project of some files, its state, and a runner
// of scripts. Tests of pkg/protocol and of the transports put their server together from them.
package servertest

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/run/script"
)

// Parts are what a server is made of. Stop ends Context.
type Parts struct {
	Root    string // of the project
	Project *project.Project
	State   *project.State
	Home    *project.Home
	Runner  *script.Runner
	Stderr  *Buffer
	Console *console.Console
	Context context.Context
	Stop    context.CancelCauseFunc
}

// New creates a project of files, whose scripts need no first line, and the parts of its server. env is added to a
// small environment. The caller removes State when the server has ended.
func New(t testing.TB, files map[string]string, env project.Env) *Parts {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file, mode := filepath.Join(root, name), os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode, content = 0o755, "#!/bin/bash\n"+content
		}
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	full := project.Env{
		"PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "TMPDIR": t.TempDir(), "MCPBASH_TOOL_ALLOWLIST": "*",
		"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0.01",
	}
	maps.Copy(full, env)
	warn := func(text string) { t.Error(text) }
	home, err := project.FindHome(full, func() project.Tree { return project.Tree{"sdk/tool-sdk.sh": nil} }, warn)
	if err != nil {
		t.Fatal(err)
	}
	p := project.Open(root, full, root, warn)
	state, _, err := project.NewState(full, &p.Settings)
	if err != nil {
		t.Fatal(err)
	}
	parts := &Parts{Root: root, Project: p, State: state, Home: home, Runner: new(script.Runner), Stderr: new(Buffer)}
	parts.Console = console.New(parts.Stderr, p)
	parts.Context, parts.Stop = context.WithCancelCause(t.Context())
	return parts
}

// A Buffer is text that goroutines write and read.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
