package httpd

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"time"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/serve/activation"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/serve/httpd/internal/socket"
)

// A Listener accepts the connections of a server.
type Listener struct {
	net.Listener
	URL   string // of the endpoint
	Local bool   // only programs of this machine can connect

	proxies   *proxies.Reader // nil: no proxy states the address of its client
	tls       *tls.Config     // nil: without TLS
	remove    func()          // removes the socket file
	inherited bool            // from a service manager, which keeps the socket
	patience  time.Duration   // of tests, in place of writeTime
}

// Listen takes over the socket of a service manager, whose variables it removes from env (H-720). Without one it opens
// an address: HOST:PORT, :PORT or PORT on 127.0.0.1, or unix:PATH (H-1).
func Listen(addr string, env project.Env) (*Listener, error) {
	if l, err := activation.Listener(env); l != nil || err != nil {
		return inherited(l, err)
	}
	return ListenAt(addr)
}

// ListenAt opens an address, like [Listen], but ignores service managers.
func ListenAt(addr string) (*Listener, error) {
	network, address, err := parseAddr(addr)
	switch {
	case err != nil:
		return nil, err
	case network == "unix":
		return listenUnix(address)
	}
	var config net.ListenConfig
	config.SetMultipathTCP(false) // it does not support refuseConnections
	l, err := config.Listen(context.Background(), network, address)
	if err != nil {
		return nil, &AddressError{address, causeOf(err)}
	}
	host, _, _ := net.SplitHostPort(address)
	return onTCP(l, host), nil
}

func onTCP(l net.Listener, host string) *Listener {
	bound := l.Addr().(*net.TCPAddr)
	return &Listener{
		Listener: l, URL: urlOf("http", net.JoinHostPort(host, fmt.Sprint(bound.Port)), "/mcp"),
		Local:  bound.IP.IsLoopback(),
		remove: func() {},
	}
}

// urlOf returns a URL on HOST:PORT. The zone of an IPv6 address is escaped (RFC 6874).
func urlOf(scheme, address, path string) string {
	return (&url.URL{Scheme: scheme, Host: address, Path: path}).String()
}

// inherited returns the socket of a service manager, which also owns the socket's file.
func inherited(l net.Listener, err error) (*Listener, error) {
	if err != nil {
		return nil, err
	}
	switch at := l.Addr().(type) {
	case *net.TCPAddr:
		on := onTCP(l, at.AddrPort().Addr().Unmap().String())
		on.inherited = true
		return on, nil
	case *net.UnixAddr:
		return &Listener{Listener: l, URL: "unix:" + at.Name, Local: true, remove: func() {}, inherited: true}, nil
	}
	l.Close()
	return nil, fmt.Errorf("the service manager has passed a socket of another kind: %s", l.Addr().Network())
}

// listenUnix makes a socket file that only this user can use (H-3).
func listenUnix(path string) (*Listener, error) {
	l, err := socket.Listen(path)
	if err != nil {
		return nil, &AddressError{"unix:" + path, fsys.Cause(err)}
	}
	return &Listener{Listener: l, URL: "unix:" + path, Local: true, remove: l.Remove}, nil
}

// writeTime is how long a client may take to read what was written to its connection (H-11).
const writeTime = 30 * time.Second

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c = &timedConn{Conn: c, within: cmp.Or(l.patience, writeTime)}
	c = l.proxies.Accept(c)
	if l.tls != nil {
		c = tls.Server(c, l.tls) // net/http looks for this type
	}
	return c, nil
}

// Close ends accepting, and removes the socket file.
func (l *Listener) Close() error {
	l.remove()
	return l.Listener.Close()
}
