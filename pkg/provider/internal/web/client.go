// Package web makes HTTP clients for the network providers. Each client speaks HTTP/1.1 over TLS with one origin, at
// addresses that pkg/provider/hosts permits. It follows no redirects, keeps no cookies, sends no credentials and
// decompresses nothing.
package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
)

// DefaultPort is the port of https.
const DefaultPort = 443

// maxHead limits the header of a response, in bytes.
const maxHead = 64 << 10

// A Client opens sessions with origins.
type Client struct {
	Policy    hosts.Policy
	Network   hosts.Network
	Env       map[string]string // for the proxy and the certificates
	UserAgent string
	// OneRequest closes the connection after one request.
	OneRequest bool
}

// A Session makes requests to one origin, one after the other. It is for one goroutine.
type Session struct {
	ctx       context.Context
	http      http.Client
	transport *http.Transport
	origin    hosts.Origin
	userAgent string
	last      io.Closer // body of the previous response
}

// Open checks an origin and looks up its addresses. It makes no connection. The session ends with
// the context. The error is a [*hosts.Refusal], the context's, or an error for [Explain].
func (c *Client) Open(ctx context.Context, o hosts.Origin) (*Session, error) {
	roots, err := readRoots(c.Env)
	if err != nil {
		return nil, err
	}
	proxy, err := proxyFor(c.Env, o)
	if err != nil {
		return nil, err
	}
	addrs, err := c.Policy.Resolve(ctx, c.Network, o)
	if err == hosts.ErrNoAddress && proxy != nil && c.Policy.Listed(o) {
		err = nil // the proxy resolves a name that the operator has listed
	}
	if err != nil {
		return nil, err
	}
	s := &Session{ctx: ctx, transport: c.transport(roots), origin: o, userAgent: c.UserAgent}
	s.http.Transport = s.transport
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// The session's context, because the context of the transport has no deadline.
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

// transport returns a transport for HTTP/1.1 over TLS. It adds nothing to requests and does not change responses.
func (c *Client) transport(roots *x509.CertPool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12,
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

// Do makes a request. The target is a path with an optional query. Callers read the body of a
// response before the next request. If they do not read it to the end, the connection is closed.
// The error is as for [Client.Open].
func (s *Session) Do(method, target string, header http.Header, content io.Reader) (*http.Response, error) {
	if s.last != nil {
		s.last.Close()
	}
	talking := false
	var failed atomic.Pointer[tlsError]
	trace := httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { talking = true },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				failed.Store(&tlsError{err})
			}
		},
	}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(s.ctx, &trace), method, "https://"+s.hostHeader(),
		content)
	if err != nil {
		return nil, err
	}
	r.URL.Opaque = escaped(target)
	if strings.HasPrefix(r.URL.Opaque, "//") { // net/http would read the path as an authority
		r.URL.Opaque = "//" + r.Host + r.URL.Opaque
	}
	if header != nil {
		r.Header = header.Clone()
	}
	r.Header.Set("User-Agent", s.userAgent)
	r.Header.Set("Accept", "*/*")
	// An idempotency key makes net/http repeat a request whose idle connection the server had
	// closed. No request here changes anything. The empty list sends no header.
	r.Header["Idempotency-Key"] = nil
	answer, err := s.http.Do(r)
	switch {
	case err != nil && s.ctx.Err() != nil:
		return nil, s.ctx.Err()
	case err != nil && talking:
		return nil, ofAnswer(err)
	case err != nil:
		if cause := failed.Load(); cause != nil && errors.Is(err, cause.err) {
			err = cause
		}
		return nil, err
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

// A body is the body of a response. Its errors are errors of this package.
type body struct{ io.ReadCloser }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = ofAnswer(err)
	}
	return n, err
}

const errAnswer = ProtocolError("the server does not answer in HTTP/1.1, or with more than 65536 bytes of header")

// ofAnswer returns an error that occurred after the request was sent. If net/http has no type for the error, the
// response is malformed.
func ofAnswer(err error) error {
	if _, known := explain(err); known {
		return err
	}
	return errAnswer
}

func port(o hosts.Origin) int {
	return cmp.Or(o.Port, DefaultPort)
}

// hostHeader returns the value of the Host header: with the port, unless it is the default one.
func (s *Session) hostHeader() string {
	o := s.origin
	if o.Port == DefaultPort {
		o.Port = 0
	}
	return o.String()
}

// escaped encodes spaces, control characters and bytes that are not ASCII.
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

// A tlsError is a failed TLS handshake. It is needed because crypto/tls has no types for most causes.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// maxCertificates limits the size of a certificate file, in bytes.
const maxCertificates = 16 << 20

// readRoots returns the certificate authorities of CURL_CA_BUNDLE, or of SSL_CERT_FILE and SSL_CERT_DIR. The result is
// nil, for the system's roots, if no variable is set.
func readRoots(env map[string]string) (*x509.CertPool, error) {
	file, dirs := env["SSL_CERT_FILE"], env["SSL_CERT_DIR"]
	if bundle := env["CURL_CA_BUNDLE"]; bundle != "" {
		file, dirs = bundle, ""
	}
	if file == "" && dirs == "" {
		return nil, nil
	}
	files := []string{file}
	for _, dir := range filepath.SplitList(dirs) {
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	pool, found := x509.NewCertPool(), false
	for _, name := range files {
		if ascii.Trim(name) == "" {
			continue
		}
		if pem, err := boundedfile.Read(name, maxCertificates); err == nil && pool.AppendCertsFromPEM(ascii.PEM(pem)) {
			found = true
		}
	}
	if !found {
		return nil, ProtocolError("CURL_CA_BUNDLE, SSL_CERT_FILE or SSL_CERT_DIR contains no certificate")
	}
	return pool, nil
}

// A ProtocolError is a fault of a server, a proxy or a setting.
type ProtocolError string

func (e ProtocolError) Error() string { return string(e) }

// unknownFault is the result of [Explain] for unknown errors.
const unknownFault = "the connection failed"

// Explain returns the reason for a failed request in a few words, on one line, without addresses and URIs.
func Explain(err error) string {
	text, _ := explain(err)
	return text
}

// explain returns the reason, and whether the kind of the error is known.
func explain(err error) (text string, known bool) {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // the text of a url.Error contains the URI
	}
	var protocol ProtocolError
	var errno syscall.Errno
	var notTLS tls.RecordHeaderError
	var alert *net.OpError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	var ofTLS *tlsError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timed out", true
	case errors.Is(err, context.Canceled):
		return "cancelled", true
	case errors.Is(err, hosts.ErrNoAddress):
		return hosts.ErrNoAddress.Error(), true
	case errors.As(err, &protocol):
		return string(protocol), true
	case errors.As(err, &certificate):
		return certificateFault(certificate.Err), true
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS", true
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		return alert.Error(), true // a TLS alert
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection ended too early", true
	case errors.As(err, &errno):
		return errno.Error(), true
	case errors.As(err, &network) && network.Timeout():
		return "timed out", true
	case errors.As(err, &ofTLS):
		return ofTLS.Error(), true
	}
	return unknownFault, false
}

func certificateFault(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an unknown authority"
	case errors.As(err, &host):
		return "the server's certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired or is not yet valid"
	}
	return "the server's certificate is not valid"
}

// proxyFor returns the URL of the proxy for an origin, or nil for a direct connection. It reads https_proxy and
// no_proxy, in lower or upper case.
func proxyFor(env map[string]string, o hosts.Origin) (*url.URL, error) {
	either := func(name string) string { return cmp.Or(env[name], env[strings.ToUpper(name)]) }
	text := either("https_proxy")
	if text == "" || bypasses(either("no_proxy"), o) {
		return nil, nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, ProtocolError("https_proxy is not the URL of a proxy; expected http://HOST:PORT")
	}
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, ProtocolError("https_proxy names a proxy of a kind other than http and https")
	case weburl.CheckPort(u) != nil:
		return nil, ProtocolError("https_proxy: " + weburl.ErrPort.Error())
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "1080" // the default port of curl
	}
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: net.JoinHostPort(u.Hostname(), port)}, nil
}

// bypasses reports whether no_proxy contains the host, its domain, its network, or *.
func bypasses(list string, o hosts.Origin) bool {
	for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if entry == "*" {
			return true
		}
		if network, err := netip.ParsePrefix(entry); err == nil && o.Addr.IsValid() &&
			network.Contains(o.Addr.Unmap()) {
			return true
		}
		domain := ascii.Lower(strings.Trim(strings.TrimPrefix(entry, "*"), ".[]"))
		if domain != "" && (o.Host == domain || !o.Addr.IsValid() && strings.HasSuffix(o.Host, "."+domain)) {
			return true
		}
	}
	return false
}
