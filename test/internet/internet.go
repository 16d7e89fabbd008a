// Package internet simulates the internet for tests of network providers. Its servers speak TLS on the
// loopback interface. Its name service and dialer map addresses that look public to them.
package internet

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/provider/hosts"
)

// Internet is what there is to be contacted.
type Internet struct {
	t       *testing.T
	key     *ecdsa.PrivateKey
	ca      *x509.Certificate
	RootsAt string // file with the certificate of the authority all servers' are signed by

	mu      sync.Mutex
	names   map[string][][]netip.Addr // answers to the first, second ... lookup of a name
	servers map[netip.AddrPort]string // where a public address really is; "" for one that is silent
	Dialled []netip.AddrPort
	Lookups []string
	Proxied []string
}

// New returns an internet with nothing in it.
func New(t *testing.T) *Internet {
	t.Helper()
	in := &Internet{t: t, names: map[string][][]netip.Addr{}, servers: map[netip.AddrPort]string{}}
	in.key = in.newKey()
	in.ca = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, in.ca, in.ca, in.key.Public(), in.key)
	in.must(err)
	in.RootsAt = filepath.Join(t.TempDir(), "roots.pem")
	in.must(os.WriteFile(in.RootsAt, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return in
}

func (in *Internet) must(err error) {
	in.t.Helper()
	if err != nil {
		in.t.Fatal(err)
	}
}

func (in *Internet) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	in.must(err)
	return key
}

// Certificate makes one for a name or an address. By default it is signed by
// the authority and valid now; change, if not nil, may spoil it.
func (in *Internet) Certificate(host string, change func(c *x509.Certificate)) tls.Certificate {
	in.t.Helper()
	key := in.newKey()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	if change != nil {
		change(c)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, in.ca, key.Public(), in.key)
	in.must(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Name adds a host. Each lookup returns the next list of addresses. The last list is repeated.
func (in *Internet) Name(host string, answers ...[]string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, list := range answers {
		var addrs []netip.Addr
		for _, text := range list {
			addrs = append(addrs, netip.MustParseAddr(text))
		}
		in.names[host] = append(in.names[host], addrs)
	}
}

// Serve starts a server at what looks like an address and port of the
// internet. Each connection is given to handle, and closed when it returns.
func (in *Internet) Serve(at string, config *tls.Config, handle func(net.Conn)) {
	in.t.Helper()
	in.at(at, in.listen(config, handle))
}

// listen starts a server and returns where it really is.
func (in *Internet) listen(config *tls.Config, handle func(net.Conn)) string {
	in.t.Helper()
	var listener net.Listener
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	in.must(err)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				stop := context.AfterFunc(ctx, func() { conn.Close() })
				defer stop()
				defer conn.Close()
				handle(conn)
			})
		}
	})
	in.t.Cleanup(func() { cancel(); listener.Close(); all.Wait() })
	return listener.Addr().String()
}

// Proxy starts a proxy to this internet, for programs that only know proxies, and returns its URL.
func (in *Internet) Proxy() string {
	return "http://" + in.listen(nil, func(conn net.Conn) {
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		to, err := netip.ParseAddrPort(request.RequestURI)
		if err != nil || request.Method != http.MethodConnect {
			return
		}
		onward, err := in.dial(context.Background(), to)
		if err != nil {
			io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			return
		}
		defer onward.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(onward, conn); onward.Close() }()
		io.Copy(conn, onward)
	})
}

// Host is Name, Serve and Certificate for a host with nothing special to it.
func (in *Internet) Host(host, at string, handle func(net.Conn)) {
	in.t.Helper()
	in.Name(host, []string{at})
	in.Serve(net.JoinHostPort(at, "443"), &tls.Config{Certificates: []tls.Certificate{in.Certificate(host, nil)}},
		handle)
}

// Silent is an address where nothing answers at all.
func (in *Internet) Silent(at string) { in.at(at, "") }

func (in *Internet) at(at, really string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.servers[netip.MustParseAddrPort(at)] = really
}

// Network returns the network of this internet. Connections to unknown addresses fail.
func (in *Internet) Network() hosts.Network {
	return hosts.Network{Lookup: in.lookup, Dial: in.dial, DialProxy: in.dialProxy}
}

func (in *Internet) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.Lookups = append(in.Lookups, host)
	answers := in.names[host]
	if len(answers) == 0 {
		return nil, errors.New("no such host")
	}
	if len(answers) > 1 {
		in.names[host] = answers[1:]
	}
	return answers[0], nil
}

func (in *Internet) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	in.mu.Lock()
	in.Dialled = append(in.Dialled, to)
	really, known := in.servers[to]
	in.mu.Unlock()
	switch {
	case !known:
		return nil, errors.New("connection refused")
	case really == "":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return new(net.Dialer).DialContext(ctx, "tcp", really)
}

func (in *Internet) dialProxy(ctx context.Context, hostport string) (net.Conn, error) {
	in.mu.Lock()
	in.Proxied = append(in.Proxied, hostport)
	in.mu.Unlock()
	to, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return nil, err
	}
	return in.dial(ctx, to)
}
