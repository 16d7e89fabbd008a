package httpd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/serve/activation"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/serve/httpd/internal/socket"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/weburl"
)

// A Listener accepts the connections of a server.
type Listener struct {
	net.Listener
	URL   string // of the endpoint
	Local bool   // only programs of this machine can connect

	proxies   *proxies.Reader // nil: no trusted proxies
	tls       *tls.Config     // nil: without TLS
	remove    func()          // removes the socket file
	inherited bool            // from a service manager, which keeps the socket
	patience  time.Duration   // set by tests, in place of writeTime
}

// Listen takes over the socket of a service manager, whose variables it removes from env. Without one it opens an
// address: HOST:PORT, :PORT or PORT on 127.0.0.1, or unix:PATH.
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
		l, err := socket.Listen(address) // its file is for this user only
		if err != nil {
			return nil, &AddressError{"unix:" + address, fsys.Cause(err)}
		}
		return &Listener{Listener: l, URL: "unix:" + address, Local: true, remove: l.Remove}, nil
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

// writeTime is how long a client may take to read what was written to its connection.
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

// DefaultAddr is the address that is used if none is given.
const DefaultAddr = "127.0.0.1:8000"

// An AddressError means that a server cannot listen at an address.
type AddressError struct {
	Addr  string
	Cause error
}

func (e *AddressError) Error() string { return fmt.Sprintf("listen %s: %v", e.Addr, e.Cause) }

func (e *AddressError) Unwrap() error { return e.Cause }

// Remedy returns what to do, or "".
func (e *AddressError) Remedy() string {
	host, port, _ := net.SplitHostPort(e.Addr)
	path, isUnix := strings.CutPrefix(e.Addr, "unix:")
	switch {
	case errors.As(e.Cause, new(*socket.InUseError)):
		return "end it, or choose another path"
	case errors.Is(e.Cause, syscall.EADDRINUSE):
		return "end the program that uses it, or choose another port; port 0 is any free one"
	case errors.Is(e.Cause, syscall.EADDRNOTAVAIL):
		return "choose an address of this machine, such as 127.0.0.1:" + port
	case isUnix && errors.Is(e.Cause, fs.ErrNotExist):
		return "run mkdir -p " + shell.Quote(filepath.Dir(path))
	case isUnix && errors.Is(e.Cause, fs.ErrPermission):
		return "choose a folder that you can write to, such as $XDG_RUNTIME_DIR"
	case errors.Is(e.Cause, fs.ErrPermission):
		return "choose a port above 1023, such as 8000"
	case host == "*":
		return "write 0.0.0.0:" + port + " for all addresses of IPv4"
	case errors.As(e.Cause, new(*net.DNSError)):
		return "choose a name or an address of this machine, such as localhost:" + port
	}
	if form, ok := e.Cause.(*remedied); ok {
		return form.remedy
	}
	return ""
}

// parseAddr parses an address of [Listen].
func parseAddr(addr string) (network, address string, err error) {
	addr = cmp.Or(addr, DefaultAddr)
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", path, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if !strings.Contains(addr, ":") {
		port, err = addr, nil
	}
	if err != nil || port != "0" && !weburl.IsPort(port) {
		return "", "", &AddressError{addr, misread(addr)}
	}
	network, host = "tcp", cmp.Or(host, "127.0.0.1")
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		network = "tcp4" // 0.0.0.0 would also be all addresses of IPv6
	}
	return network, net.JoinHostPort(host, port), nil
}

// misread returns an error with the reason why a text is not an address, and the address that was probably meant.
func misread(addr string) *remedied {
	write := func(address, reason string) *remedied { return &remedied{errors.New(reason), "write " + address} }
	_, usual, _ := net.SplitHostPort(DefaultAddr)
	scheme, rest, isURL := strings.Cut(addr, "://")
	host, _, _ := strings.Cut(rest, "/")
	colon := strings.LastIndexByte(addr, ':')
	switch {
	case isURL:
		if _, _, err := net.SplitHostPort(host); err != nil {
			port := cmp.Or(map[string]string{"http": "80", "https": "443"}[scheme], usual)
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		return write(host, "this is a URL")
	case strings.Contains(addr, "/"):
		return write("unix:"+addr, "this is a path")
	case addr == "*":
		return write("0.0.0.0:"+usual+" for all addresses of IPv4", "the port is missing")
	case net.ParseIP(strings.Trim(addr, "[]")) != nil, colon < 0 && strings.Trim(addr[:1], "0123456789") != "":
		return write(net.JoinHostPort(strings.Trim(addr, "[]"), usual), "the port is missing")
	case strings.Count(addr, ":") > 1 && !strings.Contains(addr, "["):
		return write(net.JoinHostPort(addr[:colon], addr[colon+1:]), "an address of IPv6 needs brackets")
	}
	return write(addr[:colon+1]+usual, "the port is not a number from 0 to 65535")
}

// causeOf returns the reason of an error of package net, without the address.
func causeOf(err error) error {
	if named, ok := errors.AsType[*net.DNSError](err); ok {
		return named
	}
	return fsys.Cause(err)
}

// A remedied error has a remedy.
type remedied struct {
	error
	remedy string
}

func (e *remedied) Unwrap() error { return e.error }

// Remedy returns what to do.
func (e *remedied) Remedy() string { return e.remedy }

// FileError adds the remedy to an error about a file of the operator that cannot be read. create is the command that
// makes such a file, or "".
func FileError(err error, create string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && create != "":
		return &remedied{err, "correct the path, or make the file: " + create}
	case errors.Is(err, fs.ErrNotExist):
		return &remedied{err, "correct the path"}
	case errors.Is(err, fs.ErrPermission):
		return &remedied{err, "let the user of the server read the file"}
	}
	return err
}

// Alive asks a server on this machine whether it is alive, and returns an error if it is not. addr is an address of
// [Listen], without the port 0. It does not check the certificate, which has the public name of the server.
func Alive(ctx context.Context, addr string, overTLS bool) error {
	network, address, err := reach(addr)
	if err != nil {
		return err
	}
	scheme, host := "http", address
	if network == "unix" {
		host = "localhost"
	} else if overTLS {
		scheme = "https"
	}
	transport := &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, urlOf(scheme, host, "/healthz"), nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(r)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	return nil
}

// reach returns where programs of this machine reach a server with an address of [Listen], for [net.Dial].
func reach(addr string) (network, address string, err error) {
	network, address, err = parseAddr(addr)
	if err != nil || network == "unix" {
		return network, address, err
	}
	host, port, _ := net.SplitHostPort(address)
	switch ip := net.ParseIP(host); {
	case ip == nil || !ip.IsUnspecified():
	case ip.To4() != nil:
		host = "127.0.0.1"
	default:
		host = "localhost"
	}
	return network, net.JoinHostPort(host, port), nil
}
