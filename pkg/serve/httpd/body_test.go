//go:build unix

package httpd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/serve/httpd/internal/guard"
)

// everybody accepts each token. It is the name of the caller.
type everybody struct{}

func (everybody) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	return &auth.Identity{Name: token}, nil
}

// withGate lets callers in whose token is their name, within the limits of the guard.
func withGate(c *Config) {
	g, err := guard.New(guard.Config{Local: true, Auth: everybody{}})
	if err != nil {
		panic(err)
	}
	c.Gate = &Gate{guard: g}
}

// begin sends the header of a POST with an announced length, and the beginning of its body.
func (s *testServer) begin(caller string, length int, body string) net.Conn {
	c, _ := s.raw("")
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\n%s\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n%s", caller, stateless,
		length, body)
	return c
}

// counted returns how many bytes of bodies of a caller count, or of all callers for "".
func (s *testServer) counted(caller string) int {
	s.arriving.mu.Lock()
	defer s.arriving.mu.Unlock()
	if caller == "" {
		return s.arriving.of.All()
	}
	return s.arriving.of.Of((&auth.Identity{Name: caller}).Owner())
}

// H-222: calls whose bodies are read and parsed do not count any more. 20 calls of a client with bodies of unknown
// length run at the same time.
func TestBodiesOfRunningCalls(t *testing.T) {
	const calls = 20
	dir := t.TempDir()
	files := tools(map[string]string{"wait": `n=$(mktemp "` + dir + `/n.XXXXXX"); : <"` + dir + `/go"`})
	s := serve(t, files, project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": fmt.Sprint(calls)}, withGate)
	if err := syscall.Mkfifo(dir+"/go", 0o600); err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{` + meta + `}}}`
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			r, err := http.NewRequest("POST", s.url, io.MultiReader(strings.NewReader(body))) // of unknown length
			if err != nil {
				t.Error(err)
				return
			}
			for name, value := range map[string]string{"Authorization": "Bearer ada", "Content-Type": "application/json",
				"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "wait"} {
				r.Header.Set(name, value)
			}
			answer, err := s.client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 200 {
				t.Errorf("%s %s %v", answer.Status, text, err)
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	await(t, "all calls at once", func() bool {
		list, err := os.ReadDir(dir)
		return err == nil && len(list) == calls+1 || t.Failed()
	})
	if got := s.counted(""); got != 0 {
		t.Errorf("the bodies of running calls count %d bytes", got)
	}
	release, err := os.OpenFile(dir+"/go", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	release.Close()
}

// H-222: a client that announces much and sends little keeps nobody out, and takes little memory. The bytes that have
// arrived count, until the connection ends.
func TestAnnouncedBodies(t *testing.T) {
	const pending = 1 << 20
	s := serve(t, nil, project.Env{"MCPBASH_MAX_PENDING_BYTES": fmt.Sprint(pending)}, withGate)
	list := func(caller string) int {
		return s.modern(t.Context(), "1", "tools/list", "", "", "Authorization: Bearer "+caller).StatusCode
	}
	var silent []net.Conn
	for range 50 {
		silent = append(silent, s.begin("silent", 4<<20, "{"))
	}
	await(t, "bodies", func() bool { return s.counted("silent") == len(silent) })
	for _, caller := range []string{"silent", "other"} {
		if status := list(caller); status != 200 {
			t.Errorf("%s: %d", caller, status)
		}
	}
	half := s.begin("large", 4<<20, strings.Repeat(" ", pending/2))
	await(t, "half", func() bool { return s.counted("large") == pending/2 })
	if status := list("large"); status != 429 {
		t.Errorf("more than half: %d", status)
	}
	if status := list("other"); status != 200 {
		t.Errorf("another client: %d", status)
	}
	rest := s.begin("more", 4<<20, strings.Repeat(" ", pending/2-len(silent)))
	await(t, "the rest", func() bool { return s.counted("") == pending })
	if r := s.modern(t.Context(), "1", "tools/list", "", "", "Authorization: Bearer other"); r.StatusCode != 503 ||
		r.Header.Get("Retry-After") != "1" {
		t.Errorf("more than all: %s %v", r.Status, r.Header)
	}
	for _, c := range append(silent, half, rest) {
		c.Close()
	}
	await(t, "nothing", func() bool { return s.counted("") == 0 })
	if s.arriving.of.All() != 0 {
		t.Errorf("left: %+v", s.arriving.of)
	}
}

// H-222: a body that is the only one is never refused, up to the longest one.
func TestSingleBody(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_MAX_PENDING_BYTES": "1000"}, withGate)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`
	long := body + strings.Repeat(" ", 100_000)
	for range 3 {
		r := s.do(t.Context(), "POST", long, "Authorization: Bearer ada", stateless, "Mcp-Method: tools/list")
		if got := text(t, r); r.StatusCode != 200 || !strings.Contains(got, `"tools"`) {
			t.Errorf("%s %s", r.Status, got)
		}
	}
}

// The space for a body grows with the bytes that arrive, and not with the announced length.
func TestSpaceOfBodies(t *testing.T) {
	for _, length := range []int64{-1, 0, 1, 5000, 4 << 20} {
		b, all := &body{}, int(length)
		if length < 0 {
			all = 100_000
		}
		for {
			b.grow(length)
			most := max(firstRead, 2*len(b.bytes))
			if length >= 0 {
				most = min(most, all+1)
			}
			if cap(b.bytes) > most || cap(b.bytes) == len(b.bytes) {
				t.Fatalf("length %d: space for %d bytes with %d", length, cap(b.bytes), len(b.bytes))
			}
			if len(b.bytes) == all || length < 0 && len(b.bytes) > all {
				break
			}
			b.bytes = b.bytes[:cap(b.bytes)]
			if length >= 0 {
				b.bytes = b.bytes[:min(len(b.bytes), all)]
			}
		}
	}
}

// H-33, H-504: if the owner of a request dies after it got the body, this replica answers. The bytes are still those of
// the request, and they do not count any more.
func TestKeptBody(t *testing.T) {
	s := serve(t, nil, nil)
	read := func(text string) *body {
		b, err := s.readBody(httptest.NewRecorder(), httptest.NewRequest("POST", "/mcp", strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := read("first")
	kept := first.keep()
	first.done()
	if n := s.counted(""); n != 0 {
		t.Errorf("%d bytes count", n)
	}
	other := read("other") // would be in the same buffer
	if string(kept) != "first" || string(first.bytes) != "first" {
		t.Errorf("%q, %q", kept, first.bytes)
	}
	other.done()
}
