//go:build unix

package httpd

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mcp-bash/pkg/auth/tokenfile"
)

// gated serves with an access. lines counts what it logs.
func gated(t *testing.T, a Access) (s *testServer, lines *atomic.Int64) {
	lines = new(atomic.Int64)
	return serve(t, nil, nil, func(c *Config) {
		var err error
		if c.Gate, err = NewGate(t.Context(), c.Listener, a, func(string) { lines.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}), lines
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
	dir := t.TempDir()
	example := httptest.NewTLSServer(nil)
	example.Close()
	cert := example.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := Access{
		Cert: write("cert", "CERTIFICATE", cert.Certificate[0]), Key: write("key", "PRIVATE KEY", key),
		ClientCA: write("ca", "CERTIFICATE", cert.Certificate[0]), TokenFile: newTokens(t),
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
