package https

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/test/internet"
)

const (
	anywhere = 1 << 30 // a limit that no response reaches
	blocked  = "HTTPS provider blocked host "
)

func newProvider(in *internet.Internet, env project.Env) *Provider {
	all := project.Env{"MCPBASH_HTTPS_ALLOW_ALL": "true", "SSL_CERT_FILE": in.RootsAt}
	for name, value := range env {
		all[name] = value
	}
	return New(all, in.Network())
}

// request reads the header of one request.
func request(conn net.Conn) string {
	var text strings.Builder
	for r := bufio.NewReaderSize(conn, 16); ; {
		line, err := r.ReadString('\n')
		text.WriteString(line)
		if err != nil || line == "\r\n" {
			return text.String()
		}
	}
}

// responds is a server that sends one response.
func responds(answer string) func(net.Conn) {
	return func(conn net.Conn) {
		request(conn)
		io.WriteString(conn, answer)
	}
}

func page(body string) func(net.Conn) {
	return responds(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/x-page; charset=utf-8\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body))
}

func failure(t *testing.T, err error) provider.Failure {
	t.Helper()
	var f *provider.Failure
	if !errors.As(err, &f) {
		t.Fatalf("no failure: %v", err)
	}
	return *f
}

// RES-111: the text of a request.
func TestRequest(t *testing.T) {
	in := internet.New(t)
	got := make(chan string, 1)
	in.Host("h.example", "203.0.113.1", func(conn net.Conn) {
		got <- request(conn)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML ; charset=x\r\nContent-Encoding: gzip\r\n"+
			"Set-Cookie: a=b\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x00\xff")
	})
	for _, c := range []struct{ uri, target, agent string }{
		{"https://h.example", "/", ""},
		{"HTTPS://H.Example:443/p%20q?a=b&c#frag", "/p%20q?a=b&c", "me 1.0"},
		{"https://h.example?q", "/?q", "mcpbash/2 (tool-sdk)"},
		{"https://h.example/é?x=//y@z", "/%C3%A9?x=//y@z", ""},
	} {
		agent := c.agent
		if agent == "" {
			agent = "mcpbash/" + cli.Version
		}
		data, mimeType, err := newProvider(in, project.Env{"MCPBASH_HTTPS_USER_AGENT": c.agent}).ReadTyped(t.Context(),
			c.uri, anywhere)
		if err != nil || string(data) != "\x1f\x8b\x00\xff" || mimeType != "Text/HTML" {
			t.Errorf("RES-111: %s: %q %q %v", c.uri, data, mimeType, err)
		}
		if got, want := <-got, "GET "+c.target+" HTTP/1.1\r\nHost: h.example\r\nUser-Agent: "+agent+
			"\r\nAccept: */*\r\nConnection: close\r\n\r\n"; got != want {
			t.Errorf("RES-111: %q, want %q", got, want)
		}
	}
	for _, agent := range []string{"a\nX: y", "a\r", "\x00", "\x7f"} {
		_, err := newProvider(in, project.Env{"MCPBASH_HTTPS_USER_AGENT": agent}).Read(t.Context(),
			"https://h.example/", anywhere)
		if f := failure(t, err); f.Status != provider.Invalid ||
			f.Message != "MCPBASH_HTTPS_USER_AGENT must not have control characters" {
			t.Errorf("RES-111: %+v", f)
		}
	}
}

// RES-103, RES-110, RES-36: these URIs are errors before any lookup or connection.
func TestRefused(t *testing.T) {
	in := internet.New(t)
	open := newProvider(in, nil)
	for uri, want := range map[string]string{
		"https://localhost/":                                blocked + "localhost",
		"https://user@127.0.0.1/":                           "HTTPS provider refuses userinfo in URI",
		"https://user:pass@localhost/":                      "HTTPS provider refuses userinfo in URI",
		"https://2130706433/":                               blocked + "2130706433",
		"https://0x7f000001/":                               blocked + "0x7f000001",
		"https://127.1/":                                    blocked + "127.1",
		"https://0177.0.0.1/":                               blocked + "0177.0.0.1",
		"https://127.0.0.1:8443/":                           blocked + "127.0.0.1",
		"https://[::1]/":                                    blocked + "::1",
		"https://[::ffff:7f00:1]/":                          blocked + "::ffff:7f00:1",
		"https://[::]/":                                     blocked + "::",
		"https://0.0.0.0/":                                  blocked + "0.0.0.0",
		"https://100.64.0.1/":                               blocked + "100.64.0.1",
		"https://[64:ff9b::7f00:1]/":                        blocked + "64:ff9b::7f00:1",
		"https://169.254.169.254/latest/meta-data/":         blocked + "169.254.169.254",
		"https://localhost./":                               blocked + "localhost.",
		"https://a.example./":                               blocked + "a.example.",
		"https://-a.example/":                               blocked + "-a.example",
		"https://a..example/":                               blocked + "a..example",
		"https://a.example:080/":                            blocked + "a.example",
		"https://[2001:db8::1]/":                            blocked + "2001:db8::1",
		"https://[4000::1]/":                                blocked + "4000::1",
		"https://example.com\\@127.0.0.1/":                  blocked + "127.0.0.1",
		"https://example.com/a b":                           blocked + "example.com",
		"https://example.com/\r\nX: y":                      blocked + "example.com",
		"https://example.com:0/":                            blocked + "example.com",
		"https://example.com:65536/":                        blocked + "example.com",
		"https://example.com:/":                             blocked + "example.com",
		"https://":                                          blocked + "<empty>",
		"https:///etc/passwd":                               blocked + "<empty>",
		"https://b\u00fccher.example/":                      blocked + "b\u00fccher.example",
		"http://x/":                                         "HTTPS provider requires https:// URI",
		"":                                                  "HTTPS provider requires https:// URI",
		"file:///etc/passwd":                                "HTTPS provider requires https:// URI",
		"https://metadata.google.internal/computeMetadata/": blocked + "metadata.google.internal",
		"https://[fd00:ec2::254]/":                          blocked + "fd00:ec2::254",
		"https://[fe80::1%25eth0]/":                         blocked + "fe80::1%25eth0",
		"https://[2606:4700::1%25eth0]/":                    blocked + "2606:4700::1%25eth0",
		"https://127.0.0.1%2f@example.com/":                 "HTTPS provider refuses userinfo in URI",
		"https://example.com%2f127.0.0.1/":                  blocked + "example.com%2f127.0.0.1",
	} {
		_, err := open.Read(t.Context(), uri, anywhere)
		if f := failure(t, err); f.Status != provider.Invalid || f.Message != want {
			t.Errorf("RES-103: %s: %+v, want %q", uri, f, want)
		} else if strings.HasPrefix(want, blocked) && !strings.HasPrefix(f.Log, "Blocked host "+strings.TrimPrefix(want,
			blocked)+": ") {
			t.Errorf("RES-107: %s: log %q", uri, f.Log)
		}
	}
	for _, c := range []struct{ allow, deny, all, want string }{
		{"", "", "", blocked + "example.com\nHTTPS provider requires MCPBASH_HTTPS_ALLOW_HOSTS (or " +
			"MCPBASH_HTTPS_ALLOW_ALL=true)"},
		{"example.org", "", "", blocked + "example.com"},
		{"example.org", "", "true", blocked + "example.com"},
		{"example.com", "example.com", "", blocked + "example.com"},
		{"example.com", "*.com", "true", blocked + "example.com"},
	} {
		p := newProvider(in, project.Env{"MCPBASH_HTTPS_ALLOW_HOSTS": c.allow, "MCPBASH_HTTPS_DENY_HOSTS": c.deny,
			"MCPBASH_HTTPS_ALLOW_ALL": c.all})
		_, err := p.Read(t.Context(), "https://example.com/", anywhere)
		if f := failure(t, err); f.Status != provider.Invalid || f.Message != c.want {
			t.Errorf("RES-104: %+v: %+v", c, f)
		}
	}
	if len(in.Lookups)+len(in.Dialled) > 0 {
		t.Errorf("RES-107: looked up %v, dialled %v", in.Lookups, in.Dialled)
	}
}

// RES-103, RES-105: a name that resolves to an internal address, at once or at a later lookup, is refused.
func TestRebinding(t *testing.T) {
	in := internet.New(t)
	in.Host("h.example", "203.0.113.1", page("public"))
	in.Name("rebound.example", []string{"203.0.113.2"}, []string{"127.0.0.1"})
	in.Serve("203.0.113.2:443", &tls.Config{Certificates: []tls.Certificate{in.Certificate("rebound.example", nil)}},
		page("first"))
	in.Serve("127.0.0.1:443", &tls.Config{Certificates: []tls.Certificate{in.Certificate("rebound.example", nil)}},
		page("inside"))
	for host, answers := range map[string][]string{
		"mixed.example": {"203.0.113.1", "127.0.0.1"}, "inside.example": {"10.0.0.1"},
		"mapped.example": {"::ffff:127.0.0.1"},
		"meta.example":   {"169.254.169.254"}, "nat64.example": {"64:ff9b::a00:1"},
		"first.example": {"192.168.0.1", "203.0.113.1"},
	} {
		in.Name(host, answers)
	}
	p := newProvider(in, nil)
	if data, err := p.Read(t.Context(), "https://rebound.example/", anywhere); err != nil || string(data) != "first" {
		t.Errorf("RES-105: %q, %v", data, err)
	}
	if len(in.Lookups) != 1 {
		t.Errorf("RES-105: looked up %v", in.Lookups)
	}
	for _, host := range []string{"rebound.example", "mixed.example", "inside.example", "mapped.example",
		"meta.example", "nat64.example", "first.example"} {
		_, err := p.Read(t.Context(), "https://"+host+"/", anywhere)
		if f := failure(t, err); f.Status != provider.Invalid || f.Message != blocked+host {
			t.Errorf("RES-103: %s: %+v", host, f)
		}
	}
	if !slices.Equal(in.Dialled, []netip.AddrPort{netip.MustParseAddrPort("203.0.113.2:443")}) {
		t.Errorf("RES-105: dialled %v", in.Dialled)
	}
}

// RES-105, RES-113: the next address is tried only if there is no connection.
func TestSeveralAddresses(t *testing.T) {
	in := internet.New(t)
	in.Name("h.example", []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"})
	certificate := &tls.Config{Certificates: []tls.Certificate{in.Certificate("h.example", nil)}}
	in.Serve("203.0.113.2:443", certificate, responds("HTTP/1.1 503 Busy\r\n\r\n"))
	in.Serve("203.0.113.3:443", certificate, page("third"))
	_, err := newProvider(in, nil).Read(t.Context(), "https://h.example/", anywhere)
	if f := failure(t, err); f.Status != provider.FetchFailed || f.Message != "HTTP error: 503" {
		t.Errorf("RES-113: %+v", f)
	}
	in.Name("silent.example", []string{"203.0.113.9", "203.0.113.4"})
	in.Silent("203.0.113.9:443")
	in.Serve("203.0.113.4:443", &tls.Config{Certificates: []tls.Certificate{in.Certificate("silent.example", nil)}},
		page("second"))
	p := newProvider(in, project.Env{"MCPBASH_HTTPS_TIMEOUT": "2"})
	if data, err := p.Read(t.Context(), "https://silent.example/", anywhere); err != nil || string(data) != "second" {
		t.Errorf("RES-105: %q, %v", data, err)
	}
	in.Host("203.0.113.5", "203.0.113.5", page("by address"))
	if data, err := p.Read(t.Context(), "https://203.0.113.5/", anywhere); err != nil || string(data) != "by address" {
		t.Errorf("RES-105: %q, %v", data, err)
	}
	in.Serve("[2606:4700::7]:8443", &tls.Config{Certificates: []tls.Certificate{in.Certificate("2606:4700::7", nil)}},
		page("v6"))
	if data, err := p.Read(t.Context(), "https://[2606:4700:0::7]:8443/", anywhere); err != nil || string(data) != "v6" {
		t.Errorf("RES-105: %q, %v", data, err)
	}
}

// RES-113, RES-112, RES-46: a response at the size limit is returned, and one more byte is an error.
func TestSizes(t *testing.T) {
	in := internet.New(t)
	body := strings.Repeat("0123456789", 100)
	in.Host("declared.example", "203.0.113.1", page(body))
	in.Host("counted.example", "203.0.113.2", responds("HTTP/1.1 200 OK\r\n\r\n"+body))
	in.Host("chunked.example", "203.0.113.3",
		responds("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n"+body+"\r\n0\r\n\r\n"))
	in.Host("empty.example", "203.0.113.4", page(""))
	tooLarge := provider.Failure{Status: provider.TooLarge, Message: "Resource exceeded size limit"}
	for _, host := range []string{"declared.example", "counted.example", "chunked.example"} {
		for _, c := range []struct {
			most  string
			limit int
			want  *provider.Failure
		}{
			{"1000", anywhere, nil}, {"999", anywhere, &tooLarge}, {"999", 999, &tooLarge}, {"1", 1000, &tooLarge},
			{"", 1000, nil}, {"", 999, provider.OverLimit(999)}, {"1000", 0, provider.OverLimit(0)},
			{"1001", 999, provider.OverLimit(999)},
		} {
			data, err := newProvider(in, project.Env{"MCPBASH_HTTPS_MAX_BYTES": c.most}).Read(t.Context(),
				"https://"+host+"/", c.limit)
			if c.want == nil && (err != nil || string(data) != body) {
				t.Errorf("RES-113: %s, at most %s and %d: %d bytes, %v", host, c.most, c.limit, len(data), err)
			} else if c.want != nil && (failure(t, err) != *c.want || data != nil) {
				t.Errorf("RES-113: %s, at most %s and %d: %v, want %v", host, c.most, c.limit, err, c.want)
			}
		}
	}
	if data, err := newProvider(in, nil).Read(t.Context(), "https://empty.example/", 0); err != nil || len(data) != 0 {
		t.Errorf("RES-42: %q, %v", data, err)
	}
	for text, want := range map[string]int{"": 10485760, "x": 10485760, "-1": 10485760, "5": 5, "20971520": 20971520,
		"20971521": 20971520, "99999999999999999999": 20971520, "0": 10485760} {
		if got := New(project.Env{"MCPBASH_HTTPS_MAX_BYTES": text}, hosts.System()).bytes; got != want {
			t.Errorf("RES-112: MAX_BYTES=%q: %d", text, got)
		}
	}
	for text, want := range map[string]int{"": 15, "x": 15, "0": 15, "1": 1, "60": 60, "61": 60, "1.5": 15,
		"99999999999999999999": 60} {
		if got := New(project.Env{"MCPBASH_HTTPS_TIMEOUT": text}, hosts.System()).timeout; got != want {
			t.Errorf("RES-112: TIMEOUT=%q: %d", text, got)
		}
	}
}

// RES-113: valid and invalid responses.
func TestAnswers(t *testing.T) {
	in := internet.New(t)
	const broken = "HTTPS request to h.example failed: "
	const noHTTP = "the server does not answer in HTTP/1.1, or with more than 65536 bytes of header"
	for i, c := range []struct {
		answer string
		want   provider.Failure
	}{
		{"HTTP/1.1 301 Moved\r\nLocation: https://other.example/x?y\r\nContent-Length: 0\r\n\r\n",
			provider.Failure{Status: provider.Redirected, Message: "redirect:https://other.example/x?y"}},
		{"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n",
			provider.Failure{Status: provider.Redirected, Message: "redirect:http://169.254.169.254/"}},
		{"HTTP/1.1 304 Not Modified\r\n\r\n", provider.Failure{Status: provider.Redirected, Message: "redirect:"}},
		{"HTTP/1.1 308 P\r\nLocation: /\xff\xe9\r\n\r\n", provider.Failure{Status: provider.Redirected,
			Message: "redirect:/?"}},
		{"HTTP/1.1 404 Not Found\r\n\r\nbody", provider.Failure{Status: provider.FetchFailed,
			Message: "HTTP error: 404"}},
		{"HTTP/1.1 500 x\r\n\r\n", provider.Failure{Status: provider.FetchFailed, Message: "HTTP error: 500"}},
		{"HTTP/1.1 999 x\r\n\r\n", provider.Failure{Status: provider.FetchFailed, Message: "HTTP error: 999"}},
		{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", provider.Failure{Status: provider.FetchFailed,
			Message: broken + "the connection ended too early"}},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
			provider.Failure{Status: provider.FetchFailed, Message: broken + "the connection ended too early"}},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
			provider.Failure{Status: provider.FetchFailed, Message: broken + noHTTP}},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", provider.Failure{Status: provider.TooLarge,
			Message: "Resource exceeded size limit"}},
		{"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", provider.Failure{Status: provider.FetchFailed,
			Message: broken + noHTTP}},
		{"SSH-2.0-OpenSSH_9\r\n", provider.Failure{Status: provider.FetchFailed, Message: broken + noHTTP}},
		{"", provider.Failure{Status: provider.FetchFailed, Message: broken + "the connection ended too early"}},
		{"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 100) + "\r\n",
			provider.Failure{Status: provider.FetchFailed, Message: broken + noHTTP}},
	} {
		at := fmt.Sprintf("203.0.113.%d", i+1)
		in.Serve(at+":443", &tls.Config{Certificates: []tls.Certificate{in.Certificate("h.example", nil)}},
			responds(c.answer))
		one := newProvider(in, nil)
		one.network.Lookup = func(context.Context, string) ([]netip.Addr,
			error) {
			return []netip.Addr{netip.MustParseAddr(at)}, nil
		}
		data, err := one.Read(t.Context(), "https://h.example/?secret=1", 1<<40)
		if f := failure(t, err); f != c.want || data != nil {
			t.Errorf("RES-113: %.60q: %+v, %q", c.answer, f, data)
		}
	}
}

// RES-113: every part of a response is limited.
func TestEndless(t *testing.T) {
	in := internet.New(t)
	forever := func(head, piece string) func(net.Conn) {
		return func(conn net.Conn) {
			request(conn)
			io.WriteString(conn, head)
			for block := bytes.Repeat([]byte(piece), 1+4096/len(piece)); ; {
				if _, err := conn.Write(block); err != nil {
					return
				}
			}
		}
	}
	for i, c := range []struct {
		head, piece string
		status      int
	}{
		{"HTTP/1.1 200 OK\r\n\r\n", "x", provider.TooLarge},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", provider.TooLarge},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "x", 0}, // longer than declared
		{"HTTP/1.1 200 OK\r\n", "X: y\r\n", provider.FetchFailed},
		{"HTTP/1.1 200 OK\r\nX: ", "y", provider.FetchFailed},
		{"", "HTTP/1.1 100 Continue\r\n\r\n", provider.FetchFailed},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n", provider.FetchFailed},
	} {
		host := fmt.Sprintf("h%d.example", i)
		in.Host(host, fmt.Sprintf("203.0.113.%d", i+1), forever(c.head, c.piece))
		data, err := newProvider(in, project.Env{"MCPBASH_HTTPS_MAX_BYTES": "100000"}).Read(t.Context(),
			"https://"+host, anywhere)
		if c.status == 0 {
			if err != nil || string(data) != "xxxxxxxxx" {
				t.Errorf("RES-113: %q %q: %q, %v", c.head, c.piece, data, err)
			}
		} else if f := failure(t, err); f.Status != c.status || data != nil {
			t.Errorf("RES-113: %q %q: %+v", c.head, c.piece, f)
		}
	}
}

// RES-112, RES-4: slow servers, and callers with a short deadline.
func TestSlow(t *testing.T) {
	in := internet.New(t)
	wait := func(conn net.Conn) { io.Copy(io.Discard, conn) } // until the other side closes
	in.Host("silent.example", "203.0.113.1", wait)
	in.Host("drip.example", "203.0.113.2", func(conn net.Conn) {
		request(conn)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
		for {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	in.Name("plain.example", []string{"203.0.113.3"})
	in.Serve("203.0.113.3:443", nil, wait) // no TLS handshake
	in.Name("nowhere.example", []string{"203.0.113.4"})
	in.Silent("203.0.113.4:443")
	for _, host := range []string{"silent.example", "drip.example", "plain.example", "nowhere.example"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			p := newProvider(in, project.Env{"MCPBASH_HTTPS_TIMEOUT": "1"})
			begin := time.Now()
			_, err := p.Read(t.Context(), "https://"+host+"/?token=1", anywhere)
			if f := failure(t, err); f.Status != provider.FetchFailed ||
				f.Message != "HTTPS request to "+host+" failed: timed out after 1 s" {
				t.Errorf("RES-113: %+v", f)
			}
			if took := time.Since(begin); took < time.Second || took > time.Minute {
				t.Errorf("RES-112: %v", took)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, err := newProvider(in, nil).Read(ctx, "https://"+host+"/", anywhere); err != context.Canceled {
				t.Errorf("RES-4: %v", err)
			}
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := newProvider(in, nil).Read(ctx, "https://"+host+"/",
				anywhere); err != context.DeadlineExceeded {
				t.Errorf("RES-4: %v", err)
			}
		})
	}
}

// RES-111: certificates are verified.
func TestCertificates(t *testing.T) {
	in := internet.New(t)
	other := internet.New(t)
	const failed = "HTTPS request to h.example failed: "
	for i, c := range []struct {
		config *tls.Config
		want   string
	}{
		{&tls.Config{Certificates: []tls.Certificate{other.Certificate("h.example", nil)}},
			"the server's certificate is signed by an unknown authority"},
		{&tls.Config{Certificates: []tls.Certificate{in.Certificate("x.example", nil)}},
			"the server's certificate is for another host"},
		{&tls.Config{Certificates: []tls.Certificate{in.Certificate("h.example",
			func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })}},
			"the server's certificate has expired or is not yet valid"},
		{&tls.Config{Certificates: []tls.Certificate{in.Certificate("h.example",
			func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })}},
			"the server's certificate has expired or is not yet valid"},
		{&tls.Config{Certificates: []tls.Certificate{in.Certificate("h.example", func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		})}}, "the server's certificate is not valid"},
		{&tls.Config{Certificates: []tls.Certificate{in.Certificate("h.example", nil)}, MaxVersion: tls.VersionTLS11,
			MinVersion: tls.VersionTLS10}, "remote error: tls: protocol version not supported"},
		{nil, "the server does not speak TLS"},
	} {
		at := fmt.Sprintf("203.0.113.%d", i+1)
		in.Serve(at+":443", c.config, func(conn net.Conn) {
			if c.config == nil {
				io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			} else {
				conn.(*tls.Conn).Handshake()
				io.Copy(io.Discard, conn)
			}
		})
		p := newProvider(in, nil)
		p.network.Lookup = func(context.Context, string) ([]netip.Addr,
			error) {
			return []netip.Addr{netip.MustParseAddr(at)}, nil
		}
		_, err := p.Read(t.Context(), "https://h.example/", anywhere)
		if f := failure(t, err); f.Status != provider.FetchFailed || f.Message != failed+c.want {
			t.Errorf("RES-111: %+v, want %s", f, c.want)
		}
	}
	in.Host("fine.example", "203.0.113.100", page("fine"))
	for _, c := range []struct {
		env  project.Env
		fine bool
	}{
		{project.Env{"CURL_CA_BUNDLE": other.RootsAt}, false},
		{project.Env{"CURL_CA_BUNDLE": in.RootsAt, "SSL_CERT_FILE": other.RootsAt}, true},
		{project.Env{"SSL_CERT_FILE": ""}, false}, // the system's certificate authorities
		{project.Env{"SSL_CERT_FILE": "", "SSL_CERT_DIR": in.RootsAt[:strings.LastIndexByte(in.RootsAt, '/')]}, true},
		{project.Env{"SSL_CERT_FILE": t.TempDir() + "/absent"}, false},
	} {
		if _, err := newProvider(in, c.env).Read(t.Context(), "https://fine.example/",
			anywhere); (err == nil) != c.fine {
			t.Errorf("RES-111: %v: %v", c.env, err)
		}
	}
}

// RES-106: requests through a proxy.
func TestProxied(t *testing.T) {
	in := internet.New(t)
	in.Host("h.example", "203.0.113.1", page("through"))
	in.Name("inside.example", []string{"10.0.0.1"})
	in.Name("only-there.example", []string{"203.0.113.1"}) // for the proxy; see below
	asked := make(chan string, 10)
	proxy := func(conn net.Conn) {
		head := request(conn)
		asked <- head
		if strings.Contains(head, "refused") {
			io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\n\r\n")
			return
		}
		onward, err := in.Network().Dial(t.Context(), netip.MustParseAddrPort("203.0.113.1:443"))
		if err != nil {
			return
		}
		defer onward.Close()
		io.WriteString(conn, "HTTP/1.1 200 Fine\r\n\r\n")
		go func() { io.Copy(onward, conn); onward.Close() }()
		io.Copy(conn, onward)
	}
	in.Serve("10.9.9.9:3128", nil, proxy)
	env := func(more project.Env) project.Env {
		all := project.Env{"HTTPS_PROXY": "http://me:p%40ss@10.9.9.9:3128"}
		for name, value := range more {
			all[name] = value
		}
		return all
	}
	data, err := newProvider(in, env(nil)).Read(t.Context(), "https://h.example/", anywhere)
	if err != nil || string(data) != "through" {
		t.Fatalf("RES-106: %q, %v", data, err)
	}
	if head := <-asked; head != "CONNECT h.example:443 HTTP/1.1\r\nHost: h.example:443\r\nUser-Agent: mcpbash/"+
		cli.Version+
		"\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n\r\n" {
		t.Errorf("RES-106: %q", head)
	}
	// The policy applies to proxied requests too.
	for uri, want := range map[string]int{"https://inside.example/": provider.Invalid,
		"https://127.0.0.1/": provider.Invalid, "https://unknown.example/": provider.FetchFailed} {
		_, err := newProvider(in, env(nil)).Read(t.Context(), uri, anywhere)
		if f := failure(t, err); f.Status != want {
			t.Errorf("RES-106: %s: %+v", uri, f)
		}
	}
	if len(asked) > 0 {
		t.Error("RES-106: the proxy was asked for what is refused")
	}
	// A name that only the proxy can resolve must be on the list.
	p := newProvider(in, env(project.Env{"MCPBASH_HTTPS_ALLOW_HOSTS": "h.example only-there.example",
		"MCPBASH_HTTPS_ALLOW_ALL": ""}))
	p.network.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
	if data, err := p.Read(t.Context(), "https://h.example/", anywhere); err != nil || string(data) != "through" {
		t.Errorf("RES-106: %q, %v", data, err)
	}
	<-asked
	p = newProvider(in, env(project.Env{"NO_PROXY": "h.example"}))
	if data, err := p.Read(t.Context(), "https://h.example/", anywhere); err != nil || string(data) != "through" ||
		len(asked) > 0 {
		t.Errorf("RES-106: %q, %v", data, err)
	}
	in.Name("refused.example", []string{"203.0.113.1"})
	_, err = newProvider(in, env(nil)).Read(t.Context(), "https://refused.example/", anywhere)
	if f := failure(t, err); f.Status != provider.FetchFailed ||
		f.Message != "HTTPS request to refused.example failed: the proxy refuses the connection" {
		t.Errorf("RES-106: %+v", f)
	}
}
