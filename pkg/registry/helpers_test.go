package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/script"
)

// files are what a test project is made of, by path. As ls -F marks them: a
// name that ends in * is executable, in / a directory, in @ a symbolic link to
// the content, in | a FIFO.
type files map[string]string

// A bed is a project with a catalog, a clock and a log.
type bed struct {
	t    *testing.T
	root string
	p    *project.Project
	*Catalog

	mu    sync.Mutex
	said  []string
	clock time.Time
}

// newBed makes a project named "demo". Its clock stands an hour after its
// files, so that they count as long unchanged.
func newBed(t *testing.T, env project.Env, content files) *bed {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, root: filepath.Join(top, "demo"), clock: later()}
	b.put(files{"server.d/": "", "tools/": ""})
	b.put(content)
	b.reopen(env, Options{})
	return b
}

// reopen starts anew, as another process would.
func (b *bed) reopen(env project.Env, o Options) {
	if env == nil {
		env = project.Env{}
	}
	b.p = project.Open(b.root, env, b.root, func(s string) { b.say(s) })
	o.Log = func(level mcp.Level, logger, text string) { b.say(fmt.Sprintf("%s %s: %s", level, logger, text)) }
	o.Warn = func(line string) { b.say(line) }
	if o.Now == nil {
		o.Now = b.now
	}
	b.Catalog = NewCatalog(b.p, o)
}

// runner is shared: each one holds descriptors.
var runner = new(script.Runner)

// hooks are the options for running register.sh.
func (b *bed) hooks() Options {
	dir := b.t.TempDir()
	return Options{
		Runner: runner,
		HookEnv: func() project.Env {
			env := b.p.ForHooks(b.p.Common("/home", "/helper", project.JSONTool{Name: "jq", Bin: "/jq"}), dir)
			env["PATH"] = os.Getenv("PATH")
			return env
		},
		Private: func() (string, error) { return dir, nil },
	}
}

func (b *bed) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bed) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

func (b *bed) say(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, line)
}

// log returns what was said since the last call.
func (b *bed) log() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

func (b *bed) path(name string) string { return filepath.Join(b.root, filepath.FromSlash(name)) }

func (b *bed) put(content files) {
	b.t.Helper()
	must := func(err error) {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	for name, text := range content {
		path := b.path(strings.TrimRight(name, "*/@|"))
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

func (b *bed) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// tools returns the list, which must be there.
func (b *bed) tools() *List {
	b.t.Helper()
	list, err := b.List(context.Background(), Tools)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// items returns the JSON of all tools.
func (b *bed) items() []string {
	b.t.Helper()
	var items []string
	for _, item := range b.tools().Items {
		items = append(items, string(item.JSON))
	}
	return items
}

// names returns the names of all tools.
func (b *bed) names() string {
	b.t.Helper()
	return namesOf(b.tools())
}

func namesOf(l *List) string {
	var names []string
	for _, item := range l.Items {
		names = append(names, item.Name)
	}
	return strings.Join(names, " ")
}

// reason returns why the tools are not available.
func (b *bed) reason() string {
	b.t.Helper()
	list, err := b.List(context.Background(), Tools)
	if err == nil {
		b.t.Fatalf("there are tools: %s", namesOf(list))
	}
	return err.Error()
}

// refresh refreshes and returns the report.
func (b *bed) refresh(filter string) *Report {
	b.t.Helper()
	r, err := b.Refresh(context.Background(), RefreshOptions{Filter: filter})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// wantLog fails unless exactly these lines were said since the last time.
// wantLog checks what was said since the last call, in any order. Lines and
// columns count where one of the lines names some.
func (b *bed) wantLog(lines ...string) {
	b.t.Helper()
	got := b.log()
	if !slices.ContainsFunc(lines, position.MatchString) {
		for i := range got {
			got[i] = position.ReplaceAllString(got[i], ":")
		}
	}
	slices.Sort(got)
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		b.t.Errorf("log:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

var position = regexp.MustCompile(`:\d+:\d+:`)

const allKinds = "tools resources resourceTemplates prompts completions ui"

// report is what a refresh prints that found nothing but tools; tools is their
// line.
func report(tools string) string {
	lines := "{\n  \"tools\": " + tools
	for key := range strings.FieldsSeq(allKinds) {
		if key != "tools" {
			lines += fmt.Sprintf(",\n  %q: {\"status\":\"ok\",\"count\":0,\"error\":null}", key)
		}
	}
	return lines + ",\n  \"notificationsSent\": false,\n  \"mode\": \"full\"\n}"
}

func want[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
