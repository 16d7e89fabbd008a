// Package forward passes requests on to the replica that has their session, suspended call or task. The
// connection of the replicas is encrypted (package channel), so nobody else can read or change a request.
package forward

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/serve/httpd/internal/channel"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/strict64"
)

// Path is the path of requests that begin a channel.
const Path = "/replica"

const (
	protocol    = "mcp-bash-replica" // in Upgrade
	helloHeader = "Mcp-Bash-Hello"
)

// A Forwarder connects to other replicas. It is safe for concurrent use.
type Forwarder struct {
	keys     *channel.Keys
	dialer   *net.Dialer
	tls      *tls.Config
	patience time.Duration
}

// Limits of a connection to a replica.
const (
	maxHeader = 64 << 10
	// Probes of TCP find a replica whose machine is gone. The answer of a replica has no time limit.
	probeAfter, probeEvery, probes = 5 * time.Second, 5 * time.Second, 3
)

// Patience is how long a replica may take to accept a connection, and to prove that it has the key.
const Patience = 3 * time.Second

// New returns a Forwarder with the keys that replicas share. Replicas with https need certificates that config
// accepts. A nil config accepts certificates of the system's authorities.
func New(keys *channel.Keys, patience time.Duration, config *tls.Config) *Forwarder {
	return &Forwarder{keys: keys, patience: patience, tls: config, dialer: &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
	}}
}

// A Message is a request to pass on.
type Message struct {
	Request *http.Request // without its body
	Body    []byte
	Sent    func() // is called when no more of the body will be sent; may be nil
}

// A messageBody calls sent when it is closed.
type messageBody struct {
	bytes.Reader
	sent func()
}

func (b *messageBody) Close() error {
	if b.sent != nil {
		b.sent()
	}
	return nil
}

// Send sends a message to a process at a URL, and returns its answer. An error means that the process has not
// answered. The answer only has headers that clients may get. Its body ends with the context of the request.
//
// The request states its caller, and contains no credential.
func (f *Forwarder) Send(m Message, to channel.Process, at string) (*http.Response, error) {
	r := m.Request
	stated, err := state(r)
	if err != nil {
		return nil, err
	}
	conn, err := f.connect(r.Context(), to, at)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{ // of one connection: a reused connection can end while a request is sent
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
	}
	out := &http.Request{
		Method: r.Method, URL: &url.URL{Scheme: "http", Host: "replica", Path: r.URL.Path}, Header: stated,
	}
	if len(m.Body) > 0 {
		body := &messageBody{sent: m.Sent}
		body.Reset(m.Body)
		out.Body, out.ContentLength = body, int64(len(m.Body))
	}
	answer, err := transport.RoundTrip(out.WithContext(r.Context()))
	if err != nil {
		conn.Close()
		return nil, err
	}
	if answer.StatusCode >= 300 && answer.StatusCode < 400 {
		answer.Body.Close()
		return nil, fmt.Errorf("the replica answers with status %d", answer.StatusCode)
	}
	answer.Header = only(answer.Header, answerHeaders)
	return answer, nil
}

// connect returns a channel to a process.
func (f *Forwarder) connect(ctx context.Context, to channel.Process, at string) (net.Conn, error) {
	call, err := f.keys.Call(to)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	conn, err := f.dial(ctx, target)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	answer, err := greet(conn, target.Host, call.Hello())
	if !stop() && err == nil {
		err = ctx.Err()
	}
	var c net.Conn
	if err == nil {
		c, err = call.Connect(conn, answer)
	}
	if err != nil {
		conn.Close()
	}
	return c, err
}

func (f *Forwarder) dial(ctx context.Context, target *url.URL) (net.Conn, error) {
	port := target.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[target.Scheme]
	}
	address := net.JoinHostPort(target.Hostname(), port)
	if target.Scheme == "https" {
		return (&tls.Dialer{NetDialer: f.dialer, Config: f.tls}).DialContext(ctx, "tcp", address)
	}
	return f.dialer.DialContext(ctx, "tcp", address)
}

// greet sends the hello of a channel, and returns the answer.
func greet(conn net.Conn, host, hello string) (answer string, err error) {
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s: %s\r\n\r\n",
		Path, host, protocol, helloHeader, hello); err != nil {
		return "", err
	}
	reader := bufio.NewReaderSize(io.LimitReader(conn, maxGreeting), maxGreeting)
	r, err := http.ReadResponse(reader, nil)
	switch {
	case err != nil:
		return "", err
	case r.StatusCode != http.StatusSwitchingProtocols || reader.Buffered() > 0:
		return "", channel.ErrNoProof
	}
	return r.Header.Get(helloHeader), nil
}

// maxGreeting limits the answer to a hello, in bytes.
const maxGreeting = 4 << 10

// Accept answers a request that begins a channel to this process, and returns the channel. It does not answer any other
// request: the error is [channel.ErrNoProof].
func (f *Forwarder) Accept(w http.ResponseWriter, r *http.Request, self channel.Process) (net.Conn, error) {
	answer, connect, ok := f.keys.Answer(self, r.Header.Get(helloHeader))
	if !ok || r.Method != http.MethodGet || !ascii.EqualFold(r.Header.Get("Upgrade"), protocol) {
		return nil, channel.ErrNoProof
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(f.patience))
	if buffered.Reader.Buffered() > 0 { // the caller has to wait for the answer
		err = errors.New("data before the answer")
	} else {
		_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s: %s\r\n\r\n",
			protocol, helloHeader, answer)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return connect(conn), nil
}

// callerHeader is the header of a request over a channel that states its caller.
const callerHeader = "Mcp-Bash-Caller"

// MaxStatement is the maximum length of a stated caller, in bytes.
const MaxStatement = 1 << 20

// A statement describes the caller of a request to another replica.
type statement struct {
	Identity *auth.Identity // all parts but the credential; nil: none was needed
	Address  string         // of the client
}

// The headers that a replica passes on, in lower case. A * at the end of a name matches any rest.
var (
	requestHeaders = []string{
		"accept", "content-type", "last-event-id", "mcp-*", "traceparent", "tracestate", "baggage",
	}
	answerHeaders = []string{
		"allow", "cache-control", "content-type", "mcp-session-id", "retry-after", "www-authenticate", "x-accel-buffering",
		"x-request-id",
	}
)

// only returns the headers with these names.
func only(h http.Header, names []string) http.Header {
	few := http.Header{}
	for name, values := range h {
		for _, n := range names {
			if begin, many := strings.CutSuffix(n, "*"); ascii.EqualFold(name, n) ||
				many && len(name) > len(begin) && ascii.EqualFold(name[:len(begin)], begin) {
				few[name] = values
			}
		}
	}
	return few
}

// state returns the headers of a request to pass on, with its caller.
func state(r *http.Request) (http.Header, error) {
	said := statement{auth.IdentityOf(r.Context()), r.RemoteAddr}
	b, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString(b)
	// JSON cannot express every key, and a changed key would be another caller.
	if again, err := parse(text); err != nil || again.Identity.Key() != said.Identity.Key() {
		return nil, errors.New("the caller cannot be stated")
	}
	h := only(r.Header, requestHeaders)
	h["User-Agent"] = r.Header["User-Agent"] // for the record; also without a value, because net/http would add its own
	h.Set(callerHeader, text)
	return h, nil
}

// parse parses a statement.
func parse(text string) (said statement, err error) {
	if len(text) > MaxStatement {
		return said, errors.New("the statement of the caller is too long")
	}
	b, err := strict64.URL(text)
	if err == nil {
		err = json.Unmarshal(b, &said)
	}
	if err != nil {
		return said, fmt.Errorf("the statement of the caller: %w", err)
	}
	return said, nil
}

type forwardedKey struct{}

// Forwarded reports whether another replica has passed a request on. It must not be passed on again.
func Forwarded(r *http.Request) bool { return r.Context().Value(forwardedKey{}) != nil }

// Receive returns a request that came over a channel, with the caller that its header states. Never pass it a request
// that came in another way, because anybody can send this header.
func Receive(r *http.Request) (*http.Request, error) {
	values := r.Header[callerHeader]
	if len(values) != 1 {
		return nil, errors.New("the statement of the caller is missing")
	}
	said, err := parse(values[0])
	if err != nil {
		return nil, err
	}
	ctx := context.WithValue(r.Context(), forwardedKey{}, true)
	if said.Identity != nil {
		ctx = auth.WithIdentity(ctx, said.Identity)
	}
	r = r.WithContext(ctx)
	r.RemoteAddr = said.Address
	delete(r.Header, callerHeader)
	return r, nil
}
