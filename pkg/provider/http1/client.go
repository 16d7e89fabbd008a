package http1

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"time"

	"mcp-bash/pkg/provider/hosts"
)

// DefaultPort is that of https.
const DefaultPort = 443

// A Client says how origins are contacted.
type Client struct {
	Policy    hosts.Policy
	Network   hosts.Network
	Roots     *x509.CertPool // nil: the system's
	Proxy     Proxy
	UserAgent string
}

// A Session is a connection to one origin, made anew when it is lost between
// two requests. It is for one goroutine.
type Session struct {
	client *Client
	ctx    context.Context
	origin hosts.Origin
	addrs  []netip.Addr // judged; none: the proxy leads there
	proxy  *proxyURL

	conn   *connection
	unhook func() bool
}

// Open judges an origin and connects to it. The session ends with the context.
// The error is a [*hosts.Refusal], the context's, or one that [Explain] puts
// into words.
func (c *Client) Open(ctx context.Context, o hosts.Origin) (*Session, error) {
	s := &Session{client: c, ctx: ctx, origin: o}
	var err error
	if s.proxy, err = c.Proxy.forOrigin(o); err != nil {
		return nil, err
	}
	s.addrs, err = c.Policy.Resolve(ctx, c.Network, o)
	if err == hosts.ErrNoAddress && s.proxy != nil && c.Policy.Listed(o) {
		err = nil // the operator vouches for a name that only the proxy knows (RES-106)
	}
	if err == nil {
		err = s.connect()
	}
	if err != nil {
		return nil, s.orEnded(err)
	}
	return s, nil
}

// Close ends the connection.
func (s *Session) Close() {
	if s.conn != nil {
		s.unhook()
		s.conn.Close()
		s.conn = nil
	}
}

// connect makes the connection: TCP, the proxy's tunnel if there is a proxy,
// TLS.
func (s *Session) connect() error {
	raw, err := s.dial()
	if err != nil {
		return err
	}
	// Not the context's deadline itself, so that it is the context that ends
	// first, and errors can be told apart by it.
	unhook := context.AfterFunc(s.ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	secure, err := s.secure(raw)
	if err != nil {
		unhook()
		raw.Close()
		return err
	}
	s.conn, s.unhook = newConnection(secure), unhook
	return nil
}

func (s *Session) dial() (net.Conn, error) {
	if s.proxy != nil {
		return s.client.Network.DialProxy(s.ctx, s.proxy.hostport)
	}
	return s.client.Network.DialFirst(s.ctx, s.addrs, s.port())
}

func (s *Session) secure(raw net.Conn) (net.Conn, error) {
	if s.proxy != nil {
		var err error
		if raw, err = s.proxy.tunnel(s.ctx, raw, s.origin.HostPort(DefaultPort), s.client); err != nil {
			return nil, err
		}
	}
	return s.client.handshake(s.ctx, raw, s.origin.Host)
}

func (c *Client) handshake(ctx context.Context, raw net.Conn, host string) (net.Conn, error) {
	secure := tls.Client(raw, &tls.Config{
		ServerName: host,
		RootCAs:    c.Roots,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
	})
	return secure, secure.HandshakeContext(ctx)
}

func (s *Session) port() int {
	if s.origin.Port != 0 {
		return s.origin.Port
	}
	return DefaultPort
}

// hostHeader is the origin as requests name it.
func (s *Session) hostHeader() string {
	host := s.origin.Host
	if s.origin.Addr.Is6() {
		host = "[" + host + "]"
	}
	if port := s.port(); port != DefaultPort {
		return s.origin.HostPort(DefaultPort)
	}
	return host
}

// orEnded prefers the reason a context ended for to what that did to the
// connection.
func (s *Session) orEnded(err error) error {
	if ended := s.ctx.Err(); ended != nil {
		return ended
	}
	return err
}
