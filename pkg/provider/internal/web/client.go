package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"

	"mcp-bash/pkg/provider/hosts"
)

// DefaultPort is that of https.
const DefaultPort = 443

// maxHead bounds the header of an answer, in bytes.
const maxHead = 64 << 10

// A Client says how origins are contacted.
type Client struct {
	Policy    hosts.Policy
	Network   hosts.Network
	Roots     *x509.CertPool // nil: the system's
	Proxy     Proxy
	UserAgent string
	// OneRequest says that sessions make one request each, so that their
	// connections need not be kept.
	OneRequest bool
}

// A Session makes requests to one origin, one after the other. It is for one
// goroutine.
type Session struct {
	ctx       context.Context
	http      http.Client
	transport *http.Transport
	origin    hosts.Origin
	userAgent string
	last      io.Closer // the body of the answer before
}

// Open judges an origin and looks it up, without contacting it yet. The session
// ends with the context. The error is a [*hosts.Refusal], the context's, or one
// that [Explain] puts into words.
func (c *Client) Open(ctx context.Context, o hosts.Origin) (*Session, error) {
	proxy, err := c.Proxy.forOrigin(o)
	if err != nil {
		return nil, err
	}
	addrs, err := c.Policy.Resolve(ctx, c.Network, o)
	if err == hosts.ErrNoAddress && proxy != nil && c.Policy.Listed(o) {
		err = nil // the operator vouches for a name that only the proxy knows (RES-106)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{ctx: ctx, transport: c.transport(), origin: o, userAgent: c.UserAgent}
	s.http.Transport = s.transport
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// With the session's context: that of the transport knows no deadline.
	s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		return c.Network.DialFirst(ctx, addrs, port(o))
	}
	if proxy != nil {
		s.transport.Proxy = http.ProxyURL(proxy)
		s.transport.DialContext = func(_ context.Context, _, hostport string) (net.Conn, error) {
			return c.Network.DialProxy(ctx, hostport)
		}
	}
	return s, nil
}

// transport is how connections are made and used: HTTP/1.1 over TLS, one at a
// time, with nothing added to what is asked and nothing done to the answer
// (RES-111).
func (c *Client) transport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"http/1.1"}},
		Protocols:              protocols,
		DisableCompression:     true,
		DisableKeepAlives:      c.OneRequest,
		MaxResponseHeaderBytes: maxHead,
		ProxyConnectHeader:     http.Header{"User-Agent": {c.UserAgent}},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
			if answer.StatusCode/100 != 2 {
				return ProtocolError("the proxy refuses the connection")
			}
			return nil
		},
	}
}

// Close ends the session.
func (s *Session) Close() {
	if s.last != nil {
		s.last.Close()
	}
	s.transport.CloseIdleConnections()
}

// Do makes a request for a target, that is a path with or without a query. The
// body of the answer is read before the next request, or not at all; one that
// was not read to its end costs the connection. The error is as that of
// [Client.Open].
func (s *Session) Do(method, target string, header http.Header, content io.Reader) (*http.Response, error) {
	if s.last != nil {
		s.last.Close()
	}
	talking := false
	var watch tlsWatch
	trace := httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { talking = true }}
	watch.addTo(&trace)
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(s.ctx, &trace), method, "https://"+s.hostHeader(),
		content)
	if err != nil {
		return nil, err
	}
	r.URL.Opaque = escaped(target)
	if strings.HasPrefix(r.URL.Opaque, "//") { // else taken for an authority
		r.URL.Opaque = "//" + r.Host + r.URL.Opaque
	}
	if header != nil {
		r.Header = header.Clone()
	}
	r.Header.Set("User-Agent", s.userAgent)
	r.Header.Set("Accept", "*/*")
	// No request here changes anything, so one whose connection the server had
	// ended meanwhile is made again; the empty list is not sent.
	r.Header["Idempotency-Key"] = nil
	answer, err := s.http.Do(r)
	switch {
	case err != nil && s.ctx.Err() != nil:
		return nil, s.ctx.Err()
	case err != nil && talking:
		return nil, ofAnswer(err)
	case err != nil:
		return nil, watch.of(err)
	}
	s.last, answer.Body = answer.Body, &body{answer.Body}
	switch {
	case answer.StatusCode == http.StatusSwitchingProtocols:
		return nil, ProtocolError("the server changes the protocol")
	case answer.StatusCode < 200:
		return nil, errAnswer
	}
	return answer, nil
}

// A body is that of an answer, with its errors in our words.
type body struct{ io.ReadCloser }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = ofAnswer(err)
	}
	return n, err
}

const errAnswer = ProtocolError("the server does not answer in HTTP/1.1, or with more than 65536 bytes of header")

// ofAnswer is an error that came when a server had been asked. Where net/http
// has no type for it, it is about what the server said.
func ofAnswer(err error) error {
	if _, known := explain(err); known {
		return err
	}
	return errAnswer
}

func port(o hosts.Origin) int {
	if o.Port != 0 {
		return o.Port
	}
	return DefaultPort
}

// hostHeader is the origin as requests name it: with a port that is not the
// default one.
func (s *Session) hostHeader() string {
	host := s.origin.Host
	if s.origin.Addr.Is6() {
		host = "[" + host + "]"
	}
	if p := port(s.origin); p != DefaultPort {
		host += ":" + strconv.Itoa(p)
	}
	return host
}

// escaped encodes what may not stand in a request: blanks, control characters
// and what is not ASCII.
func escaped(target string) string {
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
