//go:build unix

package httpd

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mcp-bash/pkg/auth/tokenfile"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/wire/mcp"
)

// gated serves with an access. lines counts what it logs.
func gated(t *testing.T, a Access) (s *testServer, lines *atomic.Int64) {
	lines = new(atomic.Int64)
	env := project.Env{"MCPBASH_HTTP_AUTH_FAILURES": "1"} // the next one is allowed after a minute
	return serve(t, nil, env, func(c *Config) {
		var err error
		if c.Gate, err = NewGate(t.Context(), c.Listener, a, func(string) { lines.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}), lines
}

// newPEM returns a certificate with its key, and a function that writes PEM files.
func newPEM(t *testing.T) (write func(name, kind string, content []byte) string, certificate, key []byte) {
	t.Helper()
	dir, example := t.TempDir(), httptest.NewTLSServer(nil)
	example.Close()
	pair := example.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}, pair.Certificate[0], key
}

// readiness returns the status of /readyz, and the reason.
func (s *testServer) readiness() (int, string) {
	s.t.Helper()
	if alive := s.do(s.t.Context(), "GET /healthz", ""); alive.StatusCode != 200 {
		s.t.Error("/healthz:", alive.Status)
	}
	r := s.do(s.t.Context(), "GET /readyz", "")
	return r.StatusCode, strings.TrimSpace(text(s.t, r))
}

// newTokens makes a token file.
func newTokens(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "tokens.json")
	if _, err := tokenfile.Create(t.Context(), path, tokenfile.Token{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	return path
}

// H-4: a server is not ready while its token file lets nobody in. It is alive, and the log has one line about it.
func TestUnreadyTokenFile(t *testing.T) {
	path := newTokens(t)
	s, _ := gated(t, Access{TokenFile: path})
	if status, reason := s.readiness(); status != 200 {
		t.Error(status, reason)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, []byte("{"), 0o600)
	await(t, "a server that is not ready", func() bool { status, _ := s.readiness(); return status == 503 })
	if _, reason := s.readiness(); reason != "nobody can be let in: the token file of the server is unusable" {
		t.Error(reason)
	}
	if log := s.stderr.String(); strings.Count(log, "nobody is let in until it is corrected") != 1 {
		t.Error(log)
	}
	os.WriteFile(path, good, 0o600)
	await(t, "a server that is ready again", func() bool { status, _ := s.readiness(); return status == 200 })
}

// H-4: a provider that does not answer makes a server not ready, unless there is another way in.
func TestUnreadyProvider(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	a := Access{OIDCIssuer: gone.URL, PublicURL: "https://mcp.example.com"}
	s, lines := gated(t, a)
	const want = "nobody can be let in: the OpenID provider does not answer, so tokens cannot be checked"
	status, reason := s.readiness()
	if status != 503 || reason != want {
		t.Error(status, reason)
	}
	if lines.Load() != 1 {
		t.Errorf("%d lines", lines.Load())
	}
	a.TokenFile = newTokens(t)
	s, _ = gated(t, a)
	if status, reason := s.readiness(); status != 200 {
		t.Error(status, reason)
	}
}

// H-4, H-252: a server is not ready while no certificate of a client is accepted, whatever tokens there are.
func TestUnreadyAuthorities(t *testing.T) {
	write, certificate, key := newPEM(t)
	a := Access{
		Cert: write("cert", "CERTIFICATE", certificate), Key: write("key", "PRIVATE KEY", key),
		ClientCA: write("ca", "CERTIFICATE", certificate), TokenFile: newTokens(t),
	}
	l, err := Listen(":0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g, err := NewGate(t.Context(), l, a, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.usable(); err != nil {
		t.Error(err)
	}
	write("ca", "NOTHING", nil)
	await(t, "a gate that lets nobody in", func() bool { return g.usable() != nil })
	if err := g.usable(); !strings.Contains(err.Error(), "authorities of client certificates") {
		t.Error(err)
	}
}

// H-243, P-2502: the log has the reason why a file cannot be used, also if its name is a word for secrets.
func TestNamesOfSecretFiles(t *testing.T) {
	write, certificate, key := newPEM(t)
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	if _, err := tokenfile.Create(t.Context(), tokens, tokenfile.Token{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	a := Access{
		TokenFile: tokens, Cert: write("auth", "CERTIFICATE", certificate), Key: write("tls-key", "PRIVATE KEY", key),
		ClientCA: write("client-auth", "CERTIFICATE", certificate),
	}
	s, _ := gated(t, a)
	for _, path := range []string{a.TokenFile, a.Key, a.ClientCA} {
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for about, path := range map[string]string{
		"token file " + tokens: tokens, "certificate " + a.Cert: a.Key,
		"certificates for clients " + a.ClientCA: a.ClientCA,
	} {
		want := path + " (mode 0666, others can"
		await(t, about, func() bool {
			s.Gate.usable()
			s.Gate.tokens.usable()
			_, reason, found := strings.Cut(s.stderr.String(), about+": ")
			return found && strings.Contains(reason, want)
		})
	}
	if strings.Contains(s.stderr.String(), "redacted") {
		t.Error(s.stderr)
	}
}

// H-81, H-200: each setting that lets others in makes a server one for strangers. A server that lets them in without a
// credential prints that.
func TestStrangers(t *testing.T) {
	write, certificate, key := newPEM(t)
	provider := httptest.NewServer(nil)
	provider.Close()
	tls := Access{Cert: write("cert", "CERTIFICATE", certificate), Key: write("key", "PRIVATE KEY", key)}
	withCA := tls
	withCA.ClientCA = write("ca", "CERTIFICATE", certificate)
	for name, c := range map[string]struct {
		addr      string
		access    Access
		strangers bool
		line      string
	}{
		"nothing":             {":0", Access{}, false, ""},
		"another address":     {"0.0.0.0:0", Access{TokenFile: newTokens(t)}, true, "without TLS"},
		"a socket file":       {"unix:" + filepath.Join(t.TempDir(), "s"), Access{}, true, ""},
		"a token file":        {":0", Access{TokenFile: newTokens(t)}, true, ""},
		"a provider":          {":0", Access{OIDCIssuer: provider.URL}, true, "nobody is let in until it answers"},
		"TLS":                 {":0", tls, true, "need no credential"},
		"client certificates": {":0", withCA, true, ""},
		"a public URL":        {":0", Access{PublicURL: "https://mcp.example.com"}, true, "need no credential"},
		"an allowed host":     {":0", Access{Hosts: []string{"mcp.example.com"}}, true, "need no credential"},
		"an allowed origin":   {":0", Access{Origins: []string{"https://example.com"}}, true, "need no credential"},
		"a trusted proxy":     {":0", Access{Proxies: []string{"10.0.0.0/8"}}, true, "need no credential"},
		"a host and tokens":   {":0", Access{Hosts: []string{"a.example"}, TokenFile: newTokens(t)}, true, ""},
	} {
		l, err := Listen(c.addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		g, err := NewGate(t.Context(), l, c.access, func(line string) { lines = append(lines, line) })
		l.Close()
		if err != nil {
			t.Fatal(name, err)
		}
		s := &Server{Config: Config{Gate: g, Listener: l}}
		if got := s.fromStranger(httptest.NewRequest("POST", "/mcp", nil)); got != c.strangers {
			t.Errorf("%s: strangers: %t", name, got)
		}
		if got := strings.Join(lines, "\n"); !strings.Contains(got, c.line) || c.line == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// H-81: the replicas of a state key are behind a balancer.
func TestReplicaStrangers(t *testing.T) {
	s := serve(t, nil, nil, func(c *Config) {
		var err error
		if c.Gate, err = NewGate(t.Context(), c.Listener, Access{}, func(line string) { t.Error(line) }); err != nil {
			t.Fatal(err)
		}
		c.Server.Replica.Keys = [][]byte{make([]byte, 32)}
	})
	if !s.fromStranger(httptest.NewRequest("POST", "/mcp", nil)) {
		t.Error("only programs of this machine")
	}
}

// H-81: a proxy that passes on the id of a session on this machine does not get that session.
func TestSessionOfThisMachine(t *testing.T) {
	s, _ := gated(t, Access{})
	se := s.open("2025-11-25", "")
	for header, want := range map[string]int{"": 200, "Forwarded: for=203.0.113.7": 404, "Via: 1.1 proxy": 404} {
		if r := se.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header); r.StatusCode != want {
			t.Errorf("%q: %s", header, r.Status)
		}
	}
	s.lines = headersOf{"Via: 1.1 proxy"}
	other := s.open("2025-11-25", "")
	s.lines = nil
	if r := other.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); r.StatusCode != 200 {
		t.Error(r.Status)
	}
}

// AUD-3: the record has the number of all refusals, also if no other one follows.
func TestRefusalsInRecord(t *testing.T) {
	recorded := make(counts, 3*refusalBurst)
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_KEEPALIVE": "1"}, func(c *Config) {
		config := c.Server.Config
		config.Events = recorded
		c.Server = protocol.NewServer(config)
		var err error
		if c.Gate, err = NewGate(t.Context(), c.Listener, Access{TokenFile: newTokens(t)}, func(string) {}); err != nil {
			t.Fatal(err)
		}
	})
	const sent = refusalBurst + 20
	for range sent {
		if r := s.do(t.Context(), "POST /mcp", "{}"); r.StatusCode < 400 {
			t.Fatal(r.Status)
		}
	}
	for n := 0; n < sent; {
		n += <-recorded
		if n > sent {
			t.Fatal(n)
		}
	}
}

// AUD-3: the record has the refusals at other paths than the endpoint, before they are answered.
func TestPathsInRecord(t *testing.T) {
	recorded := make(targets, 10)
	s := serve(t, nil, nil, withGate, func(c *Config) {
		config := c.Server.Config
		config.Events = recorded
		c.Server = protocol.NewServer(config)
	})
	for request, want := range map[string]string{
		"GET /": "404 GET / not_found", "GET /replica": "404 GET /replica not_found", "GET /healthz": "200",
		"POST /readyz": "405 POST /readyz invalid_request", "PUT /mcp": "405 PUT /mcp invalid_request",
		"open-sesame /": "404 _OTHER / not_found",
	} {
		got := fmt.Sprint(s.do(t.Context(), request, "", bearer("ada")).StatusCode)
		for range len(recorded) {
			got += " " + <-recorded
		}
		if got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// targets is a record of refused requests, as texts.
type targets chan string

func (c targets) Emit(e *events.Event) error {
	c <- fmt.Sprint(e.Target.Method, " ", e.Target.Name, " ", e.Cause)
	return nil
}

func (targets) Ready() error { return nil }

// counts is a record of the numbers of refusals.
type counts chan int

func (c counts) Emit(e *events.Event) error {
	if e.Type == events.HTTPRequest {
		c <- 1 + e.Count
	}
	return nil
}

func (counts) Ready() error { return nil }

// H-4, AUD-14: a server that cannot record requests, and must, is not ready.
func TestUnreadyRecord(t *testing.T) {
	s := serve(t, nil, nil, func(c *Config) {
		config := c.Server.Config
		config.Events = unwritable{}
		c.Server = protocol.NewServer(config)
	})
	if status, reason := s.readiness(); status != 503 || reason != "requests cannot be recorded" {
		t.Error(status, reason)
	}
}

type unwritable struct{}

func (unwritable) Emit(*events.Event) error { return os.ErrPermission }
func (unwritable) Ready() error             { return os.ErrPermission }

// AUD-24: the record has the change of the authorities of clients to an unusable file, and back.
func TestAuthoritiesInRecord(t *testing.T) {
	write, certificate, key := newPEM(t)
	a := Access{
		Cert: write("cert", "CERTIFICATE", certificate), Key: write("key", "PRIVATE KEY", key),
		ClientCA: write("ca", "CERTIFICATE", certificate),
	}
	changes := make(causes, 10)
	s := serve(t, nil, nil, func(c *Config) {
		config := c.Server.Config
		config.Events = changes
		c.Server = protocol.NewServer(config)
		var err error
		if c.Gate, err = NewGate(t.Context(), c.Listener, a, func(string) {}); err != nil {
			t.Fatal(err)
		}
	})
	write("ca", "NOTHING", nil)
	await(t, "a gate that lets nobody in", func() bool { return s.Gate.usable() != nil })
	if got := <-changes; got != mcp.CauseInternal {
		t.Error(got)
	}
	write("ca", "CERTIFICATE", certificate)
	await(t, "a gate that lets clients in", func() bool { return s.Gate.usable() == nil })
	if got := <-changes; got != mcp.CauseNone {
		t.Error(got)
	}
}

// causes is a record of the causes of events.
type causes chan mcp.Cause

func (c causes) Emit(e *events.Event) error {
	if e.Type == events.KeyChanged {
		c <- e.Cause
	}
	return nil
}

func (causes) Ready() error { return nil }
