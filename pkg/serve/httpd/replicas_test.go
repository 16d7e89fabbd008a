//go:build unix

package httpd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/auth"
)

// asking is a project with a tool that asks its client.
func asking() map[string]string {
	return tools(map[string]string{
		"ask": sourceSDK + `mcp_emit_text "$MCP_CLIENT_ID got $(mcp_elicit_string Name)"`,
	})
}

// A stranger is a web server at the address of a replica that is gone.
type stranger struct {
	mu   sync.Mutex
	seen strings.Builder
}

func (s *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _ := httputil.DumpRequest(r, true)
	s.mu.Lock()
	s.seen.Write(request)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"from a stranger"}]}}`)
}

// replace ends a server, and lets a stranger have its address.
func replace(t *testing.T, of *testServer) *stranger {
	t.Helper()
	address := of.Listener.Addr().String()
	of.Close()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{}
	server := httptest.NewUnstartedServer(s)
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// got returns what the stranger has received.
func (s *stranger) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// H-504, H-505: a stranger at the old address of a replica gets no token and no message. Its answer reaches nobody.
func TestStranger(t *testing.T) {
	guard := bearers(map[string]*auth.Identity{"credential": {Name: "anna"}})
	a, b := serve(t, asking(), nil, guard, replica(1)), serve(t, asking(), nil, guard, replica(1))
	state := stateOf(t, a.modern(t.Context(), "1", "tools/call", `"name":"ask"`, "", "Authorization: Bearer credential"))
	s := replace(t, a)
	r := b.modern(t.Context(), "2", "tools/call", `"name":"ask","requestState":"`+state+
		`","inputResponses":{"input-1":{"action":"accept","content":{"value":"an answer"}}}`, "",
		"Authorization: Bearer credential", "Cookie: credential")
	if got := answerOf(t, r); r.StatusCode != 200 || !strings.Contains(got, "cannot be reached; call again") {
		t.Errorf("%s %s", r.Status, got)
	}
	got := s.got()
	for _, secret := range []string{"credential", "anna", "an answer", "tools/call", state} {
		if strings.Contains(got, secret) {
			t.Errorf("the stranger got %s", secret)
		}
	}
	if !strings.HasPrefix(got, "GET /replica HTTP/1.1") {
		t.Errorf("the stranger was not asked: %q", got)
	}
}

// H-504: a caller without a token, such as one with a client certificate, can answer at another replica.
func TestForwardedCertificate(t *testing.T) {
	caller := &auth.Identity{Name: "anna", Subject: "CN=anna", Accepts: func() bool { return true }}
	known := func(c *Config) {
		c.guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(auth.WithIdentity(r.Context(), caller)))
			})
		}
	}
	a, b := serve(t, asking(), nil, known, replica(1)), serve(t, asking(), nil, known, replica(1))
	state := stateOf(t, a.modern(t.Context(), "1", "tools/call", `"name":"ask"`, ""))
	r := b.modern(t.Context(), "2", "tools/call", `"name":"ask","requestState":"`+state+
		`","inputResponses":{"input-1":{"action":"accept","content":{"value":"x"}}}`, "")
	if got := answerOf(t, r); !strings.Contains(got, "anna got") {
		t.Errorf("%s %s", r.Status, got)
	}
}

// H-506: without the proof of the key, there is no channel.
func TestNoReplica(t *testing.T) {
	a := serve(t, nil, nil, replica(1))
	for _, header := range []string{"", "Mcp-Bash-Hello: x", "Mcp-Bash-Hello: " + strings.Repeat("A", 107)} {
		lines := []string{"Upgrade: mcp-bash-replica", "Connection: Upgrade"}
		if header != "" {
			lines = append(lines, header)
		}
		if r := a.do(t.Context(), "GET /replica", "", lines...); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", header, r.Status)
		}
	}
}

// A forwarded request, which the owner refuses at once.
func BenchmarkForwarded(b *testing.B) {
	one, two := serve(b, asking(), nil, replica(1)), serve(b, asking(), nil, replica(1))
	for name, at := range map[string]*testServer{"local": one, "forwarded": two} {
		b.Run(name, func(b *testing.B) {
			r := one.modern(b.Context(), "1", "tools/call", `"name":"ask"`, "")
			body, _ := io.ReadAll(r.Body)
			r.Body.Close()
			_, state, _ := strings.Cut(string(body), `"requestState":"`)
			state, _, _ = strings.Cut(state, `"`)
			for b.Loop() {
				r := at.modern(b.Context(), "2", "tools/call", `"name":"ask","arguments":{"x":1},"requestState":"`+state+`"`, "")
				text, _ := io.ReadAll(r.Body)
				r.Body.Close()
				if !strings.Contains(string(text), "belongs to another method") {
					b.Fatal(fmt.Sprintf("%s", text))
				}
			}
		})
	}
}
