package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/cli"
)

// A fakeServer records the requests of a client, and answers those of a session.
type fakeServer struct {
	mu   sync.Mutex
	seen []string
	call http.HandlerFunc // answers the request after the handshake
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.seen = append(f.seen, fmt.Sprint(r.Method, " ", r.Header.Get("Authorization"), " ", r.Header.Get("Mcp-Session-Id"),
		" ", r.Header.Get("MCP-Protocol-Version"), " ", strings.TrimSpace(string(body))))
	f.mu.Unlock()
	switch {
	case bytes.Contains(body, []byte(`"initialize"`)):
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
	case bytes.Contains(body, []byte(`"notifications/`)) || r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusAccepted)
	default:
		f.call(w, r)
	}
}

func (f *fakeServer) log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.seen, "\n")
}

// ask runs mcp-bash request.
func ask(args ...string) (code int, out, stderr string) {
	var stdout, errors bytes.Buffer
	code = run(cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &errors}, append([]string{"request"}, args...))
	return code, stdout.String(), errors.String()
}

func answer(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, text)
	}
}

// CLI-319: a remote server answers as JSON or as a stream, and gets the token, the session and the revision.
func TestRemote(t *testing.T) {
	t.Setenv("REMOTE_TEST_TOKEN", "abc.def")
	for name, tc := range map[string]struct {
		answer      http.HandlerFunc
		code        int
		out, stderr string
	}{
		"JSON": {answer("application/json", `{"jsonrpc":"2.0","id":2,"result":{"a":1}}`), 0, "{\"a\":1}\n", ""},
		"stream": {answer("text/event-stream; charset=utf-8", ": hi\r\nid: 1\r\ndata:\r\n\r\n"+
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\n"+
			`data: "method":"notifications/x"}`+"\n\n"+`data: {"jsonrpc":"2.0","id":2,"result":{}}`+"\n\n"),
			0, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n{}\n", ""},
		"error": {answer("application/json", `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`), 1, "",
			"request: error -32000: no\n"},
		"half a stream": {answer("text/event-stream", "data: {\"id\":2"), 1, "",
			"request: the server ended without an answer\n"},
		"other JSON": {answer("application/json", `{`), 1, "", "request: URL: the answer is not JSON\n"},
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `{"error":{"code":-1,"message":"not\nyou"}}`)
		}, 1, "", "request: URL: HTTP 403 Forbidden: not\\nyou\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeServer{call: tc.answer}
			server := httptest.NewServer(f)
			defer server.Close()
			code, out, stderr := ask("tools/list", "--http", server.URL, "--token-env", "REMOTE_TEST_TOKEN", "--notifications")
			if stderr = strings.ReplaceAll(stderr, server.URL, "URL"); code != tc.code || out != tc.out || stderr != tc.stderr {
				t.Errorf("%d %q %q", code, out, stderr)
			}
			lines := strings.Split(f.log(), "\n")
			if len(lines) != 4 || !strings.HasPrefix(lines[0], "POST Bearer abc.def   {") ||
				!strings.HasPrefix(lines[2], `POST Bearer abc.def s1 2025-11-25 {"jsonrpc":"2.0","id":2,"method":"tools/list"`) ||
				lines[3] != "DELETE Bearer abc.def s1 2025-11-25 " {
				t.Errorf("%q", lines)
			}
		})
	}
}

// CLI-319: the token is sent to the named server only.
func TestRemoteToken(t *testing.T) {
	t.Setenv("REMOTE_TEST_TOKEN", "abc.def")
	other := &fakeServer{}
	elsewhere := httptest.NewServer(other)
	defer elsewhere.Close()
	redirects := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer redirects.Close()
	code, _, stderr := ask("ping", "--http", redirects.URL, "--token-env", "REMOTE_TEST_TOKEN")
	want := "request: " + redirects.URL + ": HTTP 307 Temporary Redirect\nredirects are not followed; if you trust " +
		elsewhere.URL + ", name it with --http\n"
	if code != 1 || stderr != want || other.log() != "" {
		t.Errorf("%d %q %q", code, stderr, other.log())
	}
	secure := httptest.NewUnstartedServer(other) // its certificate is not trusted
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	code, _, stderr = ask("ping", "--http", secure.URL, "--token-env", "REMOTE_TEST_TOKEN")
	if code != 1 || !strings.Contains(stderr, "certificate") || strings.Contains(stderr, "abc.def") || other.log() != "" {
		t.Errorf("%d %q %q", code, stderr, other.log())
	}
	needs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	defer needs.Close()
	_, _, stderr = ask("ping", "--http", needs.URL)
	if !strings.HasSuffix(stderr, "HTTP 401 Unauthorized\nput a token into a variable, and name that with --token-env\n") {
		t.Errorf("%q", stderr)
	}
}

// CLI-319: --timeout cancels a call. It does not wait for a server that never answers.
func TestRemoteTimeout(t *testing.T) {
	t.Parallel()
	f := &fakeServer{call: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	server := httptest.NewServer(f)
	defer server.Close()
	code, _, stderr := ask("tools/call", `{"name":"a"}`, "--http", server.URL, "--timeout", "5")
	if code != 1 || stderr != "request: tools/call timed out after 5s\n" ||
		!strings.Contains(f.log(), `"notifications/cancelled"`) {
		t.Errorf("%d %q %s", code, stderr, f.log())
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	_, _, stderr = ask("ping", "--http", silent.URL, "--timeout", "1")
	if stderr != "request: initialize timed out after 1s\n" {
		t.Errorf("%q", stderr)
	}
}

// CLI-319: a stream of any bytes is read to its end.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\ndata: b\n\n: x\r\n\r\ndata:c\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		e := newEventReader(bytes.NewReader(stream))
		for total := 0; ; {
			data, err := e.next()
			if total += len(data); err != nil {
				return
			}
			if len(data) == 0 || total > len(stream) {
				t.Fatalf("%q of %d bytes", data, len(stream))
			}
		}
	})
}
