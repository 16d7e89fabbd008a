// Package projecttest creates projects for tests: a directory with the given files, a stopped clock, and a log of the
// messages.
package projecttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// Files are the content of a project's files by path. The end of a name marks the type as in ls -F: * executable, /
// directory, @ symbolic link to the content, | FIFO.
type Files map[string]string

// A Fixture is a project in a temporary directory.
type Fixture struct {
	T       testing.TB
	Root    string
	Project *project.Project

	mu    sync.Mutex
	lines []string
	clock time.Time
}

// New creates a project named "demo". Its clock is an hour after the times of its files, so that their stamps are
// settled.
func New(t testing.TB, env project.Env, content Files) *Fixture {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &Fixture{T: t, Root: filepath.Join(top, "demo"), clock: time.Now().Add(time.Hour)}
	f.Put(Files{"server.d/": "", "tools/": ""})
	f.Put(content)
	f.Open(env)
	return f
}

// Open reads the project's settings again, as another process would.
func (f *Fixture) Open(env project.Env) {
	if env == nil {
		env = project.Env{}
	}
	f.Project = project.Open(f.Root, env, f.Root, f.AddLine)
}

// HookEnv returns the environment of register.sh if dir is its private directory.
func (f *Fixture) HookEnv(dir string) project.Env {
	env := f.Project.ForHooks(f.Project.Common("/home", "/helper", project.JSONTool{Name: "jq", Bin: "/jq"}), dir)
	env["PATH"] = os.Getenv("PATH")
	return env
}

// Now is the time of the project's clock.
func (f *Fixture) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

// Advance sets the clock forward.
func (f *Fixture) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

// AddLine adds a line to the log.
func (f *Fixture) AddLine(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line)
}

// Logger adds a message to the log.
func (f *Fixture) Logger(level mcp.Level, logger, text string) {
	f.AddLine(fmt.Sprintf("%s %s: %s", level, logger, text))
}

// Log returns the messages since the last call.
func (f *Fixture) Log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.lines
	f.lines = nil
	return lines
}

// WantLog fails unless exactly these lines were logged since the last call, in any order. Line and column numbers are
// compared only if one of the lines has some.
func (f *Fixture) WantLog(lines ...string) {
	f.T.Helper()
	got := f.Log()
	if !slices.ContainsFunc(lines, position.MatchString) {
		for i := range got {
			got[i] = position.ReplaceAllString(got[i], ":")
		}
	}
	slices.Sort(got)
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		f.T.Errorf("log:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

var position = regexp.MustCompile(`:\d+:\d+:`)

// Path returns the absolute path of a file.
func (f *Fixture) Path(name string) string { return filepath.Join(f.Root, filepath.FromSlash(name)) }

// Put writes files.
func (f *Fixture) Put(content Files) {
	f.T.Helper()
	must := func(err error) {
		if err != nil {
			f.T.Fatal(err)
		}
	}
	for name, text := range content {
		path := f.Path(strings.TrimRight(name, "*/@|"))
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case strings.HasSuffix(name, "/"):
			must(os.MkdirAll(path, 0o755))
		case strings.HasSuffix(name, "@"):
			must(os.Symlink(text, path))
		case strings.HasSuffix(name, "|"):
			must(makeFIFO(path))
		default:
			must(os.WriteFile(path, []byte(text), 0o644))
			if strings.HasSuffix(name, "*") {
				must(os.Chmod(path, 0o755))
			}
		}
	}
}

// Remove removes a file or a directory with everything in it.
func (f *Fixture) Remove(name string) {
	f.T.Helper()
	if err := os.RemoveAll(f.Path(name)); err != nil {
		f.T.Fatal(err)
	}
}

// Read returns the content of a file, which must be there.
func (f *Fixture) Read(name string) string {
	f.T.Helper()
	text, err := os.ReadFile(f.Path(name))
	if err != nil {
		f.T.Fatal(err)
	}
	return string(text)
}

// Exists reports whether there is anything at a path.
func (f *Fixture) Exists(name string) bool {
	_, err := os.Lstat(f.Path(name))
	return err == nil
}
