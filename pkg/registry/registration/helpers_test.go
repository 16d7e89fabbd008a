package registration

import (
	"context"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/projecttest"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/run/script"
)

type files = projecttest.Files

// A bed is a project with the options to open its registry.
type bed struct {
	*projecttest.Fixture
	o registry.Options
}

// newBed makes a project.
func newBed(t *testing.T, env project.Env, content files) *bed {
	t.Helper()
	b := &bed{Fixture: projecttest.New(t, env, content)}
	b.reopen(env, registry.Options{})
	return b
}

// reopen opens the project again, as another process would.
func (b *bed) reopen(env project.Env, o registry.Options) {
	b.Open(env)
	o.Log, o.Warn, o.Now = b.Logger, b.AddLine, b.Now
	b.o = o
}

// runner is shared, because each runner has open descriptors.
var runner = new(script.Runner)

// hooks are the options for running register.sh.
func (b *bed) hooks() registry.Options {
	dir := b.T.TempDir()
	return registry.Options{
		Runner:  runner,
		HookEnv: func() project.Env { return b.HookEnv(dir) },
		Private: func() (string, error) { return dir, nil },
	}
}

func layers(n int) string {
	return `{"name":"layers","_meta":` + strings.Repeat(`{"x":`, n-1) + "1" + strings.Repeat("}", n)
}

func want[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// register registers a tool of the script a/tool.sh.
func register(r *Project, name string) error {
	return registerJSON(r, `{"name":"`+name+`","path":"a/tool.sh"}`)
}

func registerJSON(r *Project, payload string) error {
	_, err := r.Register(context.Background(), []byte(payload), RegisterOptions{})
	return err
}
