package web

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/test/internet"
)

// client returns a client that may contact every host of an internet.
func client(t *testing.T, in *internet.Internet) *Client {
	t.Helper()
	return &Client{Policy: hosts.ReadPolicy(map[string]string{"X_ALLOW_ALL": "true"}, "X"), Network: in.Network(),
		Env: map[string]string{"SSL_CERT_FILE": in.RootsAt}, UserAgent: "me"}
}

func origin(t *testing.T, host string) hosts.Origin {
	t.Helper()
	o, err := hosts.ParseOrigin(host)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const (
	tooEarly = "the connection ended too early"
	noHTTP   = string(errAnswer)
)

// RES-111: a byte order mark hides no certificate authority, also in the middle of a concatenated file.
func TestByteOrderMark(t *testing.T) {
	in := internet.New(t)
	text, err := os.ReadFile(in.RootsAt)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"\ufeff" + string(text), "# ours\n\ufeff" + string(text)} {
		file := filepath.Join(t.TempDir(), "roots.pem")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, variable := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE"} {
			if _, err := readRoots(map[string]string{variable: file}); err != nil {
				t.Errorf("%s %.20q: %v", variable, content, err)
			}
		}
	}
}

// RES-113: valid and invalid responses.
func TestAnswers(t *testing.T) {
	in := internet.New(t)
	certificate := in.Certificate("h.example", nil)
	c := client(t, in)
	for i, tc := range []struct {
		answer string
		status int
		body   string
		err    string
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", 200, "abc", ""},
		{"HTTP/1.1 200\nContent-Length: 0\n\n", 200, "", ""},
		{"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", ""},
		{"HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", ""},
		{"HTTP/1.1 200 OK\r\n\r\nto the end", 200, "to the end", ""},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n" +
			"\r\nx", 404, "x", ""},
		{"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", 204, "", ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nabc", 200, "abc", ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 99\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n" +
			"Trailer: x\r\n\r\n", 200, "abcd", ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00a \r\n0123456789\r\n0\r\n\r\n", 200, "0123456789", ""},

		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 200, "abc", tooEarly},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", 200, "ab", tooEarly},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc", 200, "abc", tooEarly},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 200, "abc", tooEarly},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", 200, "abc", noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n", 200, "abc", noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 200, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc", 200, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 200, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 5000) + "\r\n", 200, "",
			noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\n folded\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nA: b\r\n folded: c\r\n\r\n", 200, "", ""},
		{"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", 200, "", ""},
		{"HTTP/1.1 200 OK\r\n: b\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 101 Switching\r\n\r\n", 0, "", "the server changes the protocol"},
		{"HTTP/2 200 OK\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 20 OK\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 099 OK\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 +20 OK\r\n\r\n", 0, "", noHTTP},
		{"SSH-2.0-OpenSSH\r\n\r\n", 0, "", noHTTP},
		{"HTTP/1.1 200 OK\r\nA: b\r\n", 0, "", tooEarly},
		{"", 0, "", tooEarly},
	} {
		at := netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)})
		in.Serve(netip.AddrPortFrom(at, 443).String(), &tls.Config{Certificates: []tls.Certificate{certificate}},
			func(conn net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					io.WriteString(conn, tc.answer)
				}
			})
		c.Network.Lookup = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{at}, nil }
		s, err := c.Open(t.Context(), origin(t, "h.example"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Do(http.MethodGet, "/", nil, nil)
		var body []byte
		if err == nil {
			if answer.StatusCode != tc.status {
				t.Errorf("%q: status %d", tc.answer, answer.StatusCode)
			}
			body, err = io.ReadAll(answer.Body)
		}
		s.Close()
		if got := explained(err); string(body) != tc.body || got != tc.err {
			t.Errorf("%q: %q, %s; want %q, %s", tc.answer, body, got, tc.body, tc.err)
		}
	}
}

func explained(err error) string {
	if err == nil {
		return ""
	}
	return Explain(err)
}

// RES-111: the exact text of a request.
func TestRequest(t *testing.T) {
	in := internet.New(t)
	for i, host := range []string{"h.example", "h.example:8443", "[2606:4700::1]", "[2606:4700::1]:1"} {
		at := "203.0.113.1:443"
		switch i {
		case 1:
			at = "203.0.113.1:8443"
		case 2:
			at = "[2606:4700::1]:443"
		case 3:
			at = "[2606:4700::1]:1"
		}
		in.Name("h.example", []string{"203.0.113.1"})
		name := strings.Trim(strings.TrimSuffix(strings.TrimSuffix(host, ":8443"), ":1"), "[]")
		if i == 3 {
			name = "2606:4700::1"
		}
		asked := make(chan string, 1)
		in.Serve(at, &tls.Config{Certificates: []tls.Certificate{in.Certificate(name, nil)}}, func(conn net.Conn) {
			buf := make([]byte, 4096)
			n := 0
			for !strings.HasSuffix(string(buf[:n]), "\r\n\r\nbody") {
				more, err := conn.Read(buf[n:])
				if err != nil {
					return
				}
				n += more
			}
			asked <- string(buf[:n])
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		})
		s, err := client(t, in).Open(t.Context(), origin(t, host))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Do(http.MethodPost, "/a b\r\n?é#{", http.Header{"X": {"y"}},
			strings.NewReader("body")); err != nil {
			t.Fatalf("%s: %s", host, Explain(err))
		}
		s.Close()
		want := "POST /a%20b%0D%0A?%C3%A9#{ HTTP/1.1\r\nHost: " + host +
			"\r\nUser-Agent: me\r\nContent-Length: 4\r\nAccept: */*\r\nX: y\r\n\r\nbody"
		if got := <-asked; got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// A path may begin with two slashes.
func TestTwoSlashes(t *testing.T) {
	in := internet.New(t)
	path := make(chan string, 1)
	in.Host("h.example", "203.0.113.1",
		internet.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { path <- r.Host + r.URL.Path })))
	s, err := client(t, in).Open(t.Context(), origin(t, "h.example"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Do(http.MethodGet, "//other.example/x", nil, nil); err != nil {
		t.Fatal(Explain(err))
	}
	if got := <-path; got != "h.example//other.example/x" {
		t.Error(got)
	}
}

// A connection serves one request after the other. A request is repeated if the server closed the
// idle connection. A response that was not read to the end closes the connection.
func TestReuse(t *testing.T) {
	in := internet.New(t)
	var connections, answers atomic.Int32
	in.Host("h.example", "203.0.113.1", func(conn net.Conn) {
		connections.Add(1)
		r := bufio.NewReader(conn)
		for {
			request, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			io.Copy(io.Discard, request.Body)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nxy")
			if answers.Add(1) == 2 {
				return // no response
			}
		}
	})
	s, err := client(t, in).Open(t.Context(), origin(t, "h.example"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, want := range []int32{1, 1, 2, 2, 3} {
		answer, err := s.Do(http.MethodPost, "/", nil, strings.NewReader("q"))
		if err != nil {
			t.Fatalf("request %d: %s", i, Explain(err))
		}
		n := 2
		if i == 3 {
			n = 1 // leave the rest unread
		}
		if _, err := io.ReadFull(answer.Body, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if n == 2 {
			io.Copy(io.Discard, answer.Body)
		}
		if got := connections.Load(); got != want {
			t.Errorf("request %d: %d connections, want %d", i, got, want)
		}
	}
}

// RES-106: the proxy for a host.
func TestProxy(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		host string
		want string // URL of the proxy, or ""
	}{
		{nil, "a.example", ""},
		{map[string]string{"HTTPS_PROXY": "http://p:3128"}, "a.example", "p:3128"},
		{map[string]string{"https_proxy": "p:3128", "HTTPS_PROXY": "http://q"}, "a.example", "p:3128"},
		{map[string]string{"https_proxy": "http://10.0.0.1"}, "a.example", "10.0.0.1:1080"},
		{map[string]string{"https_proxy": "https://p"}, "a.example", "p:443"},
		{map[string]string{"https_proxy": "http://[::1]:8080/"}, "a.example", "[::1]:8080"},
		{map[string]string{"http_proxy": "http://p:1"}, "a.example", ""},
		{map[string]string{"https_proxy": "p:1", "no_proxy": "b.example, a.example"}, "a.example", ""},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": ".example"}, "a.example", ""},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "*.EXAMPLE"}, "a.example", ""},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "*"}, "a.example", ""},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "xample ample"}, "a.example", "p:1"},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "8.8.0.0/16"}, "8.8.4.4", ""},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "8.8.4.4"}, "8.8.4.4", ""},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "4.4"}, "8.8.4.4", "p:1"},
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "[2606:4700::1]"}, "[2606:4700::1]", ""},
	} {
		o, err := hosts.ParseOrigin(c.host)
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := proxyFor(c.env, o)
		got := ""
		if proxy != nil {
			got = proxy.Host
		}
		if err != nil || got != c.want {
			t.Errorf("RES-106: %v, %s: %q, %v; want %q", c.env, c.host, got, err, c.want)
		}
	}
	for _, text := range []string{"socks5://p:1", "http://", "://", "http://p:x", "http://%zz", "p:99999", "p:0", "p:"} {
		if _, err := proxyFor(map[string]string{"https_proxy": text}, hosts.Origin{Host: "h"}); err == nil {
			t.Errorf("RES-106: %s is taken", text)
		}
	}
}
