package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A fake is a server that answers as the tool does, until a test changes that.
type fake struct {
	sessions atomic.Int64
	ended    atomic.Int64 // sessions up to this number are unknown
	answer   atomic.Value // of the tool, with %s for its argument
	calls    atomic.Int64 // of the tool
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     any
		Method string
		Params struct{ Arguments struct{ ID string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var session int64
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		if fmt.Sscan(id, &session); session <= f.ended.Load() {
			http.NotFound(w, r)
			return
		}
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(f.sessions.Add(1)))
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
		return
	case "tools/list":
		result = `{"tools":[{"name":"record"}]}`
	case "tools/call":
		f.calls.Add(1)
		text := strings.ReplaceAll(f.answer.Load().(string), "%s", m.Params.Arguments.ID)
		result = `{"content":[{"type":"text","text":"` + text + `"}]}`
	}
	id, _ := json.Marshal(m.ID)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func newFake(t *testing.T) (*fake, Target) {
	f := &fake{}
	f.answer.Store("%s a")
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, Target{Address: server.URL}
}

func TestLoad(t *testing.T) {
	f, target := newFake(t)
	l := Start(target)
	if err := l.Await(10, time.Minute); err != nil {
		t.Fatal(err)
	}
	if l.AnswersOf("a") == 0 || l.AnswersOf("b") > 0 {
		t.Errorf("a answered %d calls, b %d", l.AnswersOf("a"), l.AnswersOf("b"))
	}
	called := 0
	for k, figures := range l.End() {
		if len(figures.Lost) > 0 || len(figures.Calls) < 10 {
			t.Errorf("%s: %d calls, lost: %v", k, len(figures.Calls), figures.Lost)
		}
		if k != List {
			called += len(figures.Calls)
		}
	}
	if int64(called) != f.calls.Load() {
		t.Errorf("%d calls were counted of %d", called, f.calls.Load())
	}
}

// An answer to another call is a loss.
func TestWrongAnswer(t *testing.T) {
	f, target := newFake(t)
	f.answer.Store("x%s a")
	for _, k := range []Kind{Stateless, Session} {
		if err := NewClient(target, k).Call(t.Context(), "1"); err == nil {
			t.Errorf("%s: no error", k)
		}
	}
}

// No answer is a loss, and the client does not send the call again.
func TestNoAnswer(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `{"result":{"content":[{"text":"1 a"}]}}`)
	}))
	defer server.Close()
	c := NewClient(Target{Address: server.URL}, Stateless)
	if err := c.Call(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "2"); err == nil || requests.Load() != 2 {
		t.Errorf("%d requests, %v", requests.Load(), err)
	}
}

// A session that ended with its server begins again. If its server goes on, the call is lost.
func TestUnknownSession(t *testing.T) {
	f, target := newFake(t)
	ended := ""
	target.Ended = func(server string, _ time.Time) bool { return server == ended }
	c := NewClient(target, Session)
	call := func(wantLost bool) {
		t.Helper()
		if err := c.Call(t.Context(), "1"); err != nil != wantLost {
			t.Errorf("lost: %v", err)
		}
		f.ended.Store(f.sessions.Load())
	}
	call(false)
	call(true)
	call(false)
	ended = "a"
	call(false)
	if c.begun != 3 || c.again != 1 {
		t.Errorf("%d sessions began, %d again", c.begun, c.again)
	}
}
