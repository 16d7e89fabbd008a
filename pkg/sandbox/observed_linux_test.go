package sandbox

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/observe"
	"mcp-bash/pkg/run/script"
)

// An observer observes one script.
type observer struct {
	runner  *script.Runner
	session *observe.Session
	err     error
}

func (*observer) Learns() bool { return false }

func (o *observer) Confine(k confine.Kernel, p *confine.Profile) (*script.Confined, error) {
	return o.runner.Prepared(func() error {
		o.session, o.err = observe.Enter(k, p, true)
		return o.err
	})
}

// CF-50, CF-51: an observed script is confined as usual. The observer reports exactly the refused actions.
func TestEscapesObserved(t *testing.T) {
	k := confine.Offered()
	combinations := []string{"", "N", "P", "SP", "NP", "F", everything}
	if testing.Short() {
		combinations = []string{"", "NP", everything}
	}
	for _, letters := range combinations {
		t.Run("with "+letters, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "declared")
			for a := range heldBy(k) {
				o := &observer{runner: &s.runner}
				res := s.runObserved(o, letters, a.code)
				s.wants(a.name, res, suffices(letters, a.with))
				told := o.session.Report()
				quiet := res.Status == 0 || os.Geteuid() != 0 && slices.Contains(ofRoot, a.name)
				if quiet != (len(told.Accesses) == 0) && !unreported(a.name) {
					t.Errorf("%s: status %d, told %+v\n%s", a.name, res.Status, told, res.Stderr)
				}
			}
		})
	}
}

func (s *scene) runObserved(o *observer, letters, code string) script.Result {
	s.t.Helper()
	h, err := s.sandbox.ConfineTool(&Subject{
		Name: "Tool 'own'", Script: s.tool() + "/tool.sh", Needs: needs(letters),
		Roots: s.roots(), Observer: o,
	})
	if o.err != nil {
		s.t.Skip(o.err)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer h.End()
	spec := script.Spec{
		Argv: []string{"bash", "-c", code}, Dir: s.project, Timeout: 2 * time.Minute, Env: slices.Clone(s.env),
	}
	apply(h, &spec)
	return s.runner.Run(context.Background(), spec)
}

// unreported reports whether the observer does not report an attempt. Other rules than the profile refuse some
// attempts: the server is not dumpable, no_new_privs is set, and the processor may not support x32. Other
// attempts succeed after a refusal.
func unreported(attempt string) bool {
	switch attempt {
	case "mount", "more privileges", "tracing by capability", "capabilities that are inherited",
		"start with a preloaded library", "read the attributes of a file beside", "compare a file beside with another":
		return true
	case "null and here document": // Bash does not need the mode that older kernels cannot change
		return slices.Contains(confine.Offered().Lacks(&confine.Profile{}), "files")
	case "socket by the x32 ABI":
		return runtime.GOARCH != "amd64"
	}
	return strings.Contains(attempt, "the server")
}
