package forward

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/serve/httpd/internal/channel"
)

const patience = 10 * time.Second

var (
	one, two = bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	self     = channel.Process{7}
	anna     = &auth.Identity{Name: "anna", Issuer: "i", Scopes: []string{"a", "b"}, Rights: &auth.Rights{}}
)

// forwarder returns a replica with a key, whose patience is short.
func forwarder(key []byte) *Forwarder {
	return New(channel.NewKeys([][]byte{key}), 500*time.Millisecond, nil)
}

// A recorder is a listener that records everything that it receives.
type recorder struct {
	net.Listener
	mu   sync.Mutex
	seen bytes.Buffer
}

type recorded struct {
	net.Conn
	of *recorder
}

func (l *recorder) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return recorded{c, l}, err
}

func (c recorded) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.of.mu.Lock()
	c.of.seen.Write(p[:n])
	c.of.mu.Unlock()
	return n, err
}

func (l *recorder) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen.String()
}

// owner starts a replica that is asked as a process, and answers with a handler.
func owner(t *testing.T, key []byte, process channel.Process, handle http.HandlerFunc) (url string, l *recorder) {
	t.Helper()
	f, begun := forwarder(key), &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	inner := &http.Server{Handler: handle}
	go inner.Serve(begun)
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := f.Accept(w, r, process); err == nil {
			begun.conns <- conn
		}
	}))
	l = &recorder{Listener: front.Listener}
	front.Listener = l
	front.Start()
	t.Cleanup(func() { inner.Close(); front.Close() })
	return front.URL, l
}

type listener struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *listener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// request returns the request of a caller.
func request(t *testing.T, caller *auth.Identity, header http.Header) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp?x=1", nil)
	if header != nil {
		r.Header = header
	}
	r.RemoteAddr = "10.0.0.9:1234"
	return r.WithContext(auth.WithIdentity(r.Context(), caller))
}

// H-504: the owner gets the message and the caller, and none of the credentials. Nothing of it can be read on the way.
// The client gets the answer, and only the headers that it needs.
func TestSend(t *testing.T) {
	var seen *http.Request
	url, l := owner(t, one, self, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var err error
		if seen, err = Receive(r); err != nil {
			t.Error(err)
			return
		}
		h := w.Header()
		h.Set("Set-Cookie", "a=b")
		h.Set("Access-Control-Allow-Origin", "https://owner.example")
		h.Set("Location", "http://elsewhere.example")
		h.Set("Refresh", "0")
		h.Set("Mcp-Session-Id", "s")
		h.Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "%s of %s", body, r.RequestURI)
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	answer, err := forwarder(one).Send(Message{Request: request(t, anna, http.Header{
		"Authorization": {"Bearer credential"}, "Cookie": {"credential"}, "X-Api-Key": {"credential"},
		"Proxy-Authorization": {"credential"}, "Mcp-Bash-Caller": {"credential"}, "Mcp-Name": {"a"}, "Mcp-Param-X": {"b"},
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Accept": {"x/y"}, "Traceparent": {"00-1-2-3"},
		"User-Agent": {"client/1"},
	}), Body: []byte("message")}, self, url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if string(text) != "message of /mcp" || answer.StatusCode != 503 || len(answer.Header) != 3 ||
		answer.Header.Get("Mcp-Session-Id") != "s" || answer.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %s %v", answer.StatusCode, text, answer.Header)
	}
	h := seen.Header
	if strings.Contains(fmt.Sprint(h), "credential") || h.Get("Mcp-Name") != "a" ||
		h.Get("Mcp-Param-X") != "b" || h.Get("Accept") != "x/y" || h.Get("Traceparent") == "" || h.Get("Upgrade") != "" ||
		h.Get("Mcp-Bash-Caller") != "" || h.Get("User-Agent") != "client/1" ||
		seen.RemoteAddr != "10.0.0.9:1234" || !Forwarded(seen) {
		t.Errorf("%+v", seen)
	}
	if got := auth.IdentityOf(seen.Context()); got.Key() != anna.Key() || got.Rights == nil {
		t.Errorf("%+v", got)
	}
	for _, secret := range []string{"message", "credential", "anna", "mcp HTTP"} {
		if strings.Contains(l.text(), secret) {
			t.Errorf("the network has seen %s", secret)
		}
	}
	if answer, err = forwarder(one).Send(Message{Request: request(t, anna, nil)}, self, url); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if got := seen.UserAgent(); got != "" {
		t.Errorf("a client without a User-Agent is %q", got)
	}
}

// A stranger at the address of an owner gets nothing of the caller, and its answer is worth nothing.
func TestStranger(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from a stranger") }
	plain := httptest.NewUnstartedServer(http.HandlerFunc(handle))
	seen := &recorder{Listener: plain.Listener}
	plain.Listener = seen
	plain.Start()
	defer plain.Close()
	redirects := httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusTemporaryRedirect))
	defer redirects.Close()
	pretends := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(helloHeader, r.Header.Get(helloHeader))
		w.WriteHeader(http.StatusSwitchingProtocols)
	}))
	defer pretends.Close()
	otherKey, keySeen := owner(t, two, self, handle)
	otherProcess, processSeen := owner(t, one, channel.Process{8}, handle)
	for name, url := range map[string]string{
		"a web server": plain.URL, "a redirect": redirects.URL, "a hello as the answer": pretends.URL,
		"another key": otherKey, "another process": otherProcess,
	} {
		answer, err := forwarder(one).Send(Message{Request: request(t, anna, http.Header{
			"Authorization": {"Bearer credential"}}), Body: []byte("message")}, self, url)
		if err != channel.ErrNoProof {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
	for _, l := range []*recorder{seen, keySeen, processSeen} {
		if got := l.text(); !strings.Contains(got, "GET /replica") || strings.Contains(got, "credential") ||
			strings.Contains(got, "message") || strings.Contains(got, "anna") {
			t.Errorf("a stranger got %s", got)
		}
	}
}

// A man in the middle passes the proof on, and still learns and changes nothing.
func TestRelay(t *testing.T) {
	url, _ := owner(t, one, self, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "an answer") })
	for _, change := range []bool{false, true} {
		relay, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer relay.Close()
		l := &recorder{Listener: relay}
		go func() {
			in, err := l.Accept()
			if err != nil {
				return
			}
			defer in.Close()
			out, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				return
			}
			defer out.Close()
			go io.Copy(out, in)
			answer := bufio.NewReader(out)
			for line := ""; line != "\r\n"; {
				if line, err = answer.ReadString('\n'); err != nil {
					return
				}
				io.WriteString(in, line)
			}
			part := make([]byte, 64<<10)
			for {
				n, err := answer.Read(part)
				if err != nil {
					return
				}
				if change {
					part[n-1] ^= 1
				}
				in.Write(part[:n])
			}
		}()
		message := Message{Request: request(t, anna, nil), Body: []byte("message")}
		answer, err := forwarder(one).Send(message, self, "http://"+relay.Addr().String())
		text := ""
		if err == nil {
			b, _ := io.ReadAll(answer.Body)
			text = string(b)
			answer.Body.Close()
		}
		if change != (err != nil) || !change && text != "an answer" || strings.Contains(l.text(), "message") {
			t.Errorf("changed %v: %q, %v", change, text, err)
		}
	}
}

// A redirect of an owner reaches no client.
func TestRedirect(t *testing.T) {
	url, _ := owner(t, one, self, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.example", http.StatusFound)
	})
	message := Message{Request: request(t, anna, nil), Body: []byte("x")}
	if answer, err := forwarder(one).Send(message, self, url); err == nil {
		t.Errorf("%+v", answer)
	}
}

// Events arrive as the owner sends them. The end of the client's request ends the owner's request.
func TestStream(t *testing.T) {
	next, ended := make(chan struct{}), make(chan struct{})
	url, _ := owner(t, one, self, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-next
		fmt.Fprint(w, "data: 2\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	message := Message{Request: request(t, nil, nil).WithContext(ctx), Body: []byte("x")}
	answer, err := forwarder(one).Send(message, self, url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	for _, want := range []string{"data: 1\n", "\n", "data: 2\n"} {
		if want == "data: 2\n" {
			close(next)
		}
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the owner's request goes on")
	}
}

// H-505: an owner that is gone, or does not answer as a server.
func TestGone(t *testing.T) {
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	free, silent, killed, endless := listen(), listen(), listen(), listen() // nobody accepts connections of silent
	free.Close()
	serve := func(l net.Listener, answer func(net.Conn)) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(conn).ReadString('\n')
			answer(conn)
			conn.Close()
		}
	}
	go serve(killed, func(net.Conn) {})
	go serve(endless, func(c net.Conn) {
		for {
			if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1000))); err != nil {
				return
			}
		}
	})
	for _, url := range []string{"http://" + free.Addr().String(), "http://" + silent.Addr().String(),
		"https://" + silent.Addr().String(), "http://" + killed.Addr().String(), "http://" + endless.Addr().String(),
		"http://nobody.invalid", "http://a b"} {
		if answer, err := forwarder(one).Send(Message{Request: request(t, anna, nil)}, self, url); err == nil {
			t.Errorf("%s: %+v", url, answer)
		}
	}
}

// With https, the certificate is verified, and the proof is needed all the same.
func TestTLS(t *testing.T) {
	begun := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	inner := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "an answer")
	})}
	go inner.Serve(begun)
	defer inner.Close()
	f := forwarder(one)
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := f.Accept(w, r, self); err == nil {
			begun.conns <- conn
		}
	}))
	defer front.Close()
	if answer, err := f.Send(Message{Request: request(t, anna, nil)}, self, front.URL); err == nil {
		t.Errorf("an unknown authority: %+v", answer)
	}
	f.tls = front.Client().Transport.(*http.Transport).TLSClientConfig
	answer, err := f.Send(Message{Request: request(t, anna, nil)}, self, front.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); string(text) != "an answer" {
		t.Errorf("%s", text)
	}
	_, err = f.Send(Message{Request: request(t, anna, nil)}, channel.Process{8}, front.URL)
	if err != channel.ErrNoProof {
		t.Error(err)
	}
}

// Requests that begin no channel are not answered.
func TestNoChannel(t *testing.T) {
	call, _ := channel.NewKeys([][]byte{one}).Call(self)
	for name, header := range map[string]http.Header{
		"no hello": {"Upgrade": {protocol}}, "no upgrade": {helloHeader: {call.Hello()}},
		"another protocol": {helloHeader: {call.Hello()}, "Upgrade": {"websocket"}},
		"a wrong hello":    {helloHeader: {call.Hello()[1:]}, "Upgrade": {protocol}},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", Path, nil)
		r.Header = header
		if _, err := forwarder(one).Accept(w, r, self); err != channel.ErrNoProof || len(w.Header()) > 0 {
			t.Errorf("%s: %v, %v", name, w.Header(), err)
		}
	}
}

// All parts of an identity travel, and a caller without one stays without. A caller that would become another
// one on the way is not passed on.
func TestState(t *testing.T) {
	for _, id := range []*auth.Identity{
		nil, {}, anna, {Name: "ü\u007f\x00\u2028\"", Subject: "s", Rights: &auth.Rights{Tools: []string{"a*"}}},
		{Name: "x", Rights: &auth.Rights{Resources: []string{"r"}, Prompts: []string{"p"}}},
		{Name: "x", Scopes: slices.Repeat([]string{strings.Repeat("s", 100)}, 100)},
	} {
		h, err := state(request(t, id, nil))
		if err != nil {
			t.Errorf("%+v: %v", id, err)
			continue
		}
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header = h
		r, err = Receive(r)
		if err != nil || auth.IdentityOf(r.Context()).Key() != id.Key() || !auth.IdentityOf(r.Context()).Accepted() {
			t.Errorf("%+v: %v", id, err)
		}
	}
	for _, id := range []*auth.Identity{
		{Name: "\xff"}, {Name: "x", Scopes: slices.Repeat([]string{strings.Repeat("t", 100)}, MaxStatement/100)},
	} {
		if _, err := state(request(t, id, nil)); err == nil {
			t.Errorf("%.20q is stated", id.Name)
		}
	}
	for _, values := range [][]string{nil, {""}, {"e30", "e30"}, {"%"}, {"W10"}} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header[callerHeader] = values
		if _, err := Receive(r); err == nil {
			t.Errorf("%q is accepted", values)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("e30")
	f.Add("eyJJZGVudGl0eSI6eyJOYW1lIjoiYSJ9LCJBZGRyZXNzIjoiYiJ9")
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header[callerHeader] = []string{text}
		received, err := Receive(r)
		if (err == nil) == (received == nil) || err == nil && (!Forwarded(received) || received.Header[callerHeader] != nil) {
			t.Errorf("%+v, %v", received, err)
		}
	})
}
