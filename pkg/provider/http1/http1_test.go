package http1

import (
	"bufio"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"mcp-bash/pkg/provider/hosts"
)

func TestReadResponse(t *testing.T) {
	for _, c := range []struct {
		answer string
		status int
		body   string
		keeps  bool
		err    string
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", 200, "abc", true, ""},
		{"HTTP/1.1 200\nContent-Length: 0\n\n", 200, "", true, ""},
		{"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", false, ""},
		{"HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", false, ""},
		{"HTTP/1.1 200 OK\r\n\r\nto the end", 200, "to the end", false, ""},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx", 404, "x", true, ""},
		{"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", 204, "", true, ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nabc", 200, "abc", true, ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 99\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nTrailer: x\r\n\r\n", 200, "abcd", true, ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00a \r\n0123456789\r\n0\r\n\r\n", 200, "0123456789", true, ""},

		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 200, "abc", false, "unexpected EOF"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", 200, "ab", false, "unexpected EOF"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc", 200, "abc", false, "unexpected EOF"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 200, "abc", false, "unexpected EOF"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", 200, "abc", false, "unexpected EOF"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n", 200, "abc", false, "a chunk of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 200, "", false, "a chunk of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc", 200, "", false, "a chunk of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 200, "", false, "a chunk of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 5000) + "\r\n", 200, "", false, errHeadTooLong.Error()},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 0, "", false, "the server uses an unknown transfer encoding"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, "", false, "the server uses an unknown transfer encoding"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 0, "", false, "the server gives no usable Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 0, "", false, "the server gives no usable Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", 0, "", false, "the server gives no usable Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", 0, "", false, "the server gives no usable Content-Length"},
		{"HTTP/1.1 200 OK\r\n folded\r\n\r\n", 0, "", false, "the header of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nA: b\r\n folded: c\r\n\r\n", 0, "", false, "the header of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", 0, "", false, "the header of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\n: b\r\n\r\n", 0, "", false, "the header of the answer is malformed"},
		{"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", 0, "", false, "the header of the answer is malformed"},
		{"HTTP/1.1 101 Switching\r\n\r\n", 0, "", false, "the server changes the protocol"},
		{"HTTP/2 200 OK\r\n\r\n", 0, "", false, "the server does not speak HTTP/1.1"},
		{"HTTP/1.1 20 OK\r\n\r\n", 0, "", false, "the server does not speak HTTP/1.1"},
		{"HTTP/1.1 099 OK\r\n\r\n", 0, "", false, "the server does not speak HTTP/1.1"},
		{"HTTP/1.1 +20 OK\r\n\r\n", 0, "", false, "the server does not speak HTTP/1.1"},
		{"SSH-2.0-OpenSSH\r\n\r\n", 0, "", false, "the server does not speak HTTP/1.1"},
		{"HTTP/1.1 200 OK\r\nA: b\r\n", 0, "", false, "unexpected EOF"},
		{"", 0, "", false, "unexpected EOF"},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader} {
			answer, err := readResponse(bufio.NewReaderSize(wrap(strings.NewReader(c.answer)), 16), "GET")
			var body []byte
			if err == nil {
				if answer.Status != c.status || answer.keeps != c.keeps && c.err == "" {
					t.Errorf("%q, %s: %d, keeps %v", c.answer, name, answer.Status, answer.keeps)
				}
				body, err = io.ReadAll(answer.Body)
			}
			if string(body) != c.body || c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("%q, %s: %q, %v; want %q, %s", c.answer, name, body, err, c.body, c.err)
			}
		}
	}
}

// The head may be so long and no longer, however it is split up.
func TestHeadLimit(t *testing.T) {
	head := func(n int) string {
		const status, end = "HTTP/1.1 200 OK\r\n", "\r\n"
		const field = "X: \r\n"
		return status + "X: " + strings.Repeat("x", n-len(status)-len(end)-len(field)) + "\r\n" + end
	}
	for n, fine := range map[int]bool{maxHead: true, maxHead + 1: false} {
		if _, err := readResponse(bufio.NewReader(strings.NewReader(head(n))), "GET"); (err == nil) != fine {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	endless := map[string]string{"a line": "x", "fields": "A: b\r\n", "announcements": "HTTP/1.1 100 C\r\n\r\n", "empty status": "\r\n"}
	for name, piece := range endless {
		r := bufio.NewReader(io.MultiReader(strings.NewReader("HTTP/1.1 100 C\r\n"), &repeated{piece: piece}))
		if name == "announcements" {
			r = bufio.NewReader(&repeated{piece: piece})
		}
		if _, err := readResponse(r, "GET"); err == nil {
			t.Errorf("endless %s: no error", name)
		}
	}
}

// repeated is a text without end.
type repeated struct {
	piece string
	at    int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.piece[r.at%len(r.piece)]
		r.at++
	}
	return len(p), nil
}

func TestText(t *testing.T) {
	for host, want := range map[string]string{"h.example": "h.example", "h.example:443": "h.example", "h.example:8443": "h.example:8443", "[2001:db8::1]": "[2001:db8::1]", "[2001:db8::1]:1": "[2001:db8::1]:1"} {
		o, err := hosts.ParseOrigin(host)
		if err != nil {
			t.Fatal(err)
		}
		s := &Session{client: &Client{UserAgent: "me"}, origin: o}
		got := string(s.text(Request{Method: "POST", Target: "/a b\r\n?é#", Header: [][2]string{{"X", "y"}}, Body: []byte("body")}))
		if got != "POST /a%20b%0D%0A?%C3%A9# HTTP/1.1\r\nHost: "+want+"\r\nUser-Agent: me\r\nAccept: */*\r\nX: y\r\nContent-Length: 4\r\n\r\nbody" {
			t.Errorf("RES-111: %q", got)
		}
	}
}

// resources RES-106.
func TestProxy(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		host string
		want string // where the proxy is; "" for none
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
		{map[string]string{"https_proxy": "p:1", "NO_PROXY": "[2001:db8::1]"}, "[2001:db8::1]", ""},
	} {
		o, err := hosts.ParseOrigin(c.host)
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := ReadProxy(c.env).forOrigin(o)
		got := ""
		if proxy != nil {
			got = proxy.hostport
		}
		if err != nil || got != c.want {
			t.Errorf("RES-106: %v, %s: %q, %v; want %q", c.env, c.host, got, err, c.want)
		}
	}
	for _, text := range []string{"socks5://p:1", "http://", "://", "http://p:x", "http://%zz"} {
		if _, err := ReadProxy(map[string]string{"https_proxy": text}).forOrigin(hosts.Origin{Host: "h"}); err == nil {
			t.Errorf("RES-106: %s is taken", text)
		}
	}
}

// What is made of any answer at all: never a panic, never more than it says,
// and the same whether it comes at once or byte by byte.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nTrailer: x\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 301 Moved\r\nLocation: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(r io.Reader) (*Response, []byte, error) {
			answer, err := readResponse(bufio.NewReaderSize(r, 16), "GET")
			if err != nil {
				return nil, nil, err
			}
			body, err := io.ReadAll(answer.Body)
			return answer, body, err
		}
		answer, body, err := read(strings.NewReader(string(data)))
		if len(body) > len(data) || err == nil && answer.Length >= 0 && int64(len(body)) != answer.Length {
			t.Fatalf("%d bytes of body, %d declared, %d there", len(body), answer.Length, len(data))
		}
		again, bodyAgain, errAgain := read(iotest.OneByteReader(strings.NewReader(string(data))))
		if !slices.Equal(body, bodyAgain) || !errors.Is(errAgain, err) && err != nil && err.Error() != errAgain.Error() || (err == nil) != (errAgain == nil) {
			t.Fatalf("%q, %v; byte by byte %q, %v", body, err, bodyAgain, errAgain)
		}
		if answer != nil && !reflect.DeepEqual(answer.Header, again.Header) {
			t.Fatalf("%v, then %v", answer.Header, again.Header)
		}
	})
}

// A connection that the server ends between two requests is made again, once;
// one that ends during an answer is not.
func TestReuse(t *testing.T) {
	var dialled int
	serve := func(conn net.Conn, answers ...string) {
		r := bufio.NewReader(conn)
		for _, answer := range answers {
			for line := " "; line != "\r\n"; {
				line, _ = r.ReadString('\n')
				if line == "" {
					return
				}
			}
			io.WriteString(conn, answer)
		}
		conn.Close()
	}
	const fine = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
	dial := func(answers ...string) *connection {
		dialled++
		a, b := net.Pipe()
		go serve(b, answers...)
		return newConnection(a)
	}
	s := &Session{client: &Client{}, ctx: t.Context(), unhook: func() bool { return true }, conn: dial(fine, fine)}
	for range 2 {
		answer, err := s.Do(Request{Method: "GET", Target: "/"})
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); string(body) != "x" || err != nil {
			t.Fatalf("%q, %v", body, err)
		}
	}
	if dialled != 1 || !s.conn.idle {
		t.Errorf("%d connections for two requests", dialled)
	}
	// It is gone now, and nowhere else to go: the error is that of dialling.
	if _, err := s.Do(Request{Method: "GET", Target: "/"}); err != hosts.ErrNoAddress {
		t.Errorf("not made again: %v", err)
	}
	s.conn = dial("HTTP/1.1 200")
	if _, err := s.Do(Request{Method: "GET", Target: "/"}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}
