//go:build unix

package httpd

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/auth/tokenfile"
)

// proxyHeader is a header of the PROXY protocol, version 2, about the client 203.0.113.7:4660.
const proxyHeader = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x07\x0a\x00\x00\x01\x12\x34\x00\x50"

// ask sends the header of a proxy and a request with a token over a new connection, and returns the status.
func (s *testServer) ask(proxy, token string, headers ...string) int {
	s.t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte(proxy))
	if s.Listener.tls != nil {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	c.Write([]byte("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n" +
		strings.Join(append(headers, ""), "\r\n") + "\r\n"))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode
}

// H-215, H-218: behind a proxy that the operator trusts, rejected credentials count for the client, and the log has its
// address. A valid token is let in, whatever others do behind the same address.
func TestTrustedProxy(t *testing.T) {
	write, certificate, key := newPEM(t)
	path := filepath.Join(t.TempDir(), "tokens.json")
	valid, err := tokenfile.Create(t.Context(), path, tokenfile.Token{Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]Access{
		"plain": {}, "TLS": {Cert: write("cert", "CERTIFICATE", certificate), Key: write("key", "PRIVATE KEY", key)},
	} {
		a.TokenFile, a.Proxies = path, []string{"127.0.0.0/8", "10.0.0.0/8"}
		s, _ := gated(t, a)
		bad := tokenfile.Prefix + strings.Repeat("x", 43)
		for i, want := range []int{401, 429, 429} {
			if got := s.ask(proxyHeader, bad); got != want {
				t.Fatalf("%s, attempt %d: %d", name, i, got)
			}
		}
		for _, c := range []struct {
			proxy, token, header string
			want                 int
		}{
			{proxyHeader, valid, "Accept: */*", 400},
			{proxyHeader, bad, "X-Forwarded-For: 198.51.100.1", 429}, // the client's own
			{"", bad, "X-Forwarded-For: 203.0.113.7", 429},
			{"", bad, "Forwarded: for=203.0.113.7", 429},
			{"", valid, "X-Forwarded-For: 203.0.113.7", 400},
			{"", bad, "X-Forwarded-For: 198.51.100.2", 401},
			{"", bad, "Forwarded: for=198.51.100.3, for=10.0.0.9", 401},
			{"", bad, "X-Forwarded-For: 203.0.113.7, 198.51.100.4", 401},
		} {
			if got := s.ask(c.proxy, c.token, c.header); got != c.want {
				t.Errorf("%s, %q, %s: %d", name, c.proxy, c.header, got)
			}
		}
		log := s.stderr.String()
		for _, want := range []string{"203.0.113.7:4660: ", "198.51.100.2: ", "198.51.100.3: ", "198.51.100.4: "} {
			if !strings.Contains(log, "rejected a request from "+want) {
				t.Errorf("%s, %s: %s", name, want, log)
			}
		}
		if strings.Contains(log, "from 127.0.0.1") {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// H-215: without a trusted proxy, all clients of a balancer have its address. Clients with a token are let in
// all the same.
func TestManyFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	valid, err := tokenfile.Create(t.Context(), path, tokenfile.Token{Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := gated(t, Access{TokenFile: path})
	for i := range 200 {
		if got := s.ask("", "guess", "X-Forwarded-For: 203.0.113.7"); got != 401 && got != 429 {
			t.Fatalf("attempt %d: %d", i, got)
		}
	}
	if log := s.stderr.String(); !strings.Contains(log, ", a proxy (--trusted-proxy lets it state its client): ") {
		t.Error(log)
	}
	if got := s.ask("", "guess", "X-Forwarded-For: 198.51.100.1"); got != 429 {
		t.Errorf("another client, with a bad token: %d", got)
	}
	if got := s.ask("", valid); got != 400 {
		t.Errorf("a valid token: %d", got)
	}
}

// H-218: without trusted proxies, nobody states an address. An invalid header ends the connection, and is logged.
func TestInvalidProxyHeader(t *testing.T) {
	s, _ := gated(t, Access{TokenFile: newTokens(t)})
	if got := s.ask(proxyHeader, "x"); got != 400 {
		t.Errorf("without trusted proxies: %d", got)
	}
	s, _ = gated(t, Access{TokenFile: newTokens(t), Proxies: []string{"127.0.0.1"}})
	c, in := s.raw(strings.Replace(proxyHeader, "\x21", "\x41", 1))
	defer c.Close()
	if n, err := in.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("an answer")
	}
	await(t, "a line in the log", func() bool {
		return strings.Contains(s.stderr.String(), "closed a connection of the proxy 127.0.0.1:")
	})
	for _, list := range [][]string{{"x"}, {"0.0.0.0/0"}} {
		l, err := Listen(":0", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := NewGate(t.Context(), l, Access{Proxies: list}, nil); err == nil {
			t.Error(list)
		}
	}
}

// H-60, H-218: the header of a proxy is not a request, so a connection with it alone ends with the server.
func TestDrainAfterProxyHeader(t *testing.T) {
	s, _ := gated(t, Access{TokenFile: newTokens(t), Proxies: []string{"127.0.0.1"}})
	c, in := s.raw(proxyHeader)
	defer c.Close()
	await(t, "the header", func() bool {
		for _, nc := range s.connections.Unused() {
			return nc.RemoteAddr().String() == "203.0.113.7:4660" && !timed(nc).used.Load()
		}
		return false
	})
	s.Drain()
	if n, err := in.Read(make([]byte, 1)); n != 0 || err == nil || os.IsTimeout(err) {
		t.Error(n, err)
	}
}
