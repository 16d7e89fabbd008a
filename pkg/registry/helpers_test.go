package registry

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/projecttest"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/script"
)

type files = projecttest.Files

// A bed is a project with a catalog.
type bed struct {
	*projecttest.Fixture
	*Catalog
}

// newBed makes a project, and opens its catalog.
func newBed(t testing.TB, env project.Env, content files) *bed {
	t.Helper()
	b := &bed{Fixture: projecttest.New(t, env, content)}
	b.reopen(env, Options{})
	return b
}

// reopen opens the project again, as another process would.
func (b *bed) reopen(env project.Env, o Options) {
	b.Open(env)
	o.Log, o.Warn = b.Logger, b.AddLine
	if o.Now == nil {
		o.Now = b.Now
	}
	b.Catalog = NewCatalog(b.Project, o)
}

// runner is shared, because each runner has open descriptors.
var runner = new(script.Runner)

// hooks are the options for running register.sh.
func (b *bed) hooks() Options {
	dir := b.T.TempDir()
	return Options{
		Runner:  runner,
		HookEnv: func() project.Env { return b.HookEnv(dir) },
		Private: func() (string, error) { return dir, nil },
	}
}

// tools returns the list of tools, which must be available.
func (b *bed) tools() *List {
	b.T.Helper()
	list, err := b.List(context.Background(), kinds.Tools)
	if err != nil {
		b.T.Fatal(err)
	}
	return list
}

// items returns the JSON of all tools.
func (b *bed) items() []string {
	b.T.Helper()
	var items []string
	for _, item := range b.tools().Items {
		items = append(items, string(item.JSON))
	}
	return items
}

// names returns the names of all tools.
func (b *bed) names() string {
	b.T.Helper()
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
	b.T.Helper()
	list, err := b.List(context.Background(), kinds.Tools)
	if err == nil {
		b.T.Fatalf("there are tools: %s", namesOf(list))
	}
	return err.Error()
}

// refresh refreshes the registry and returns the report.
func (b *bed) refresh(filter string) *Report {
	b.T.Helper()
	r, err := b.Refresh(context.Background(), RefreshOptions{Filter: filter})
	if err != nil {
		b.T.Fatal(err)
	}
	return r
}

const allKinds = "tools resources resourceTemplates prompts completions ui"

// report returns the output of a refresh that found only tools. tools is their line.
func report(tools string) string {
	lines := "{\n  \"tools\": " + tools
	for key := range strings.FieldsSeq(allKinds) {
		if key != "tools" {
			lines += fmt.Sprintf(",\n  %q: {\"status\":\"ok\",\"count\":0,\"error\":null}", key)
		}
	}
	return lines + ",\n  \"notificationsSent\": false,\n  \"mode\": \"full\"\n}"
}

// wantJSON compares lists of items, one a line.
func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	if !jsontest.Same(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func want[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
