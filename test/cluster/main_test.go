// Package cluster runs the server as operators do: several replicas behind a balancer, in containers and in
// Kubernetes. The tests of containers and of Kubernetes have the build tag cluster; make cluster runs them.
package cluster

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/freeport"
	"mcp-bash/test/load"
)

// bin holds mcp-bash and mcp-bundle, as they are released.
var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		if bin = os.Getenv("MCPBASH_TEST_BIN"); bin != "" {
			return nil
		}
		bin = dir
		return checkout.Build(dir, checkout.Commands)
	}))
}

// needs skips a test where a program is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("left out: %s is not installed", program)
		}
	}
}

// makeProject makes the project that the load calls, and returns its directory.
func makeProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(checkout.Directory(t), "demo")
	if err := load.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// freePort returns a port that nothing uses.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := freeport.Port()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, limit time.Duration, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// isReady reports whether a server accepts requests.
func isReady(address string) bool {
	client := http.Client{Timeout: time.Second}
	r, err := client.Get(address + "/readyz")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// A history knows which servers end and have ended.
type history struct {
	mu     sync.Mutex
	ending map[string]bool
	ended  map[string]time.Time
}

// ends notes that a server begins to end.
func (h *history) ends(server string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending == nil {
		h.ending, h.ended = map[string]bool{}, map[string]time.Time{}
	}
	h.ending[server] = true
}

// gone notes that a server that began to end has ended. Another one may have its name then.
func (h *history) gone(server string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ending, server)
	h.ended[server], h.ended[""] = time.Now(), time.Now()
}

// since reports whether a server ends, or has ended since a time; with "", whether any server has.
func (h *history) since(server string, t time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ending[server] || server == "" && len(h.ending) > 0 || h.ended[server].After(t)
}

// A setup is servers behind an address, and how one after the other is restarted.
type setup struct {
	name     string
	target   load.Target
	restart  func(n int) (server string) // returns the server that calls have to reach again, or ""
	restarts int
	calls    int // of each kind, at least
}

// measure restarts the servers under load. No call may be lost. It returns the calls of the tool that were answered.
func measure(t *testing.T, s setup) (answered map[string]bool) {
	t.Helper()
	l := startLoad(t, s.target)
	pace := s.calls / (s.restarts + 1)
	for n := range s.restarts {
		l.more(pace)
		if server := s.restart(n); server != "" {
			from := l.AnswersOf(server)
			eventually(t, server+" answers again", time.Minute, func() bool { return l.AnswersOf(server) > from })
		}
	}
	l.more(max(pace, s.calls-l.Least()))
	return l.none(s.name, s.restarts)
}

// A clientele are the clients of a test.
type clientele struct {
	*load.Load
	t *testing.T
}

func startLoad(t *testing.T, target load.Target) clientele {
	l := load.Start(target)
	t.Cleanup(func() { l.End() })
	return clientele{l, t}
}

// more waits until some more calls of each kind have been answered.
func (c clientele) more(calls int) {
	c.t.Helper()
	if err := c.Await(calls, 5*time.Minute); err != nil {
		c.t.Fatal(err)
	}
}

// none ends the load, and prints what its clients saw. No call may be lost. It returns the calls of the tool that were
// answered.
func (c clientele) none(name string, restarts int) (answered map[string]bool) {
	c.t.Helper()
	answered = map[string]bool{}
	lines := []string{load.TableHead}
	for k, f := range c.End() {
		lines = append(lines, f.Line(name, k, restarts))
		if k != load.List {
			maps.Copy(answered, f.Calls)
		}
		shown := map[bool]int{}
		for _, err := range f.Lost {
			strayed := errors.Is(err, load.ErrUnknownSession)
			if shown[strayed]++; shown[strayed] <= 5 {
				c.t.Errorf("%s, %s: %v", name, k, err)
			}
		}
	}
	slices.Sort(lines[1:])
	c.t.Logf("\n%s", strings.Join(lines, "\n"))
	return answered
}
