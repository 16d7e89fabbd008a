package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/auth/internal/reread"
)

// An authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func (a *authority) issue(name string, end time.Time) (cert, key []byte) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: end,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, signer = template, private
		a.key = private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, private.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			a.t.Fatal(err)
		}
		a.pem = cert
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.issue("authority", time.Now().Add(time.Hour))
	return a
}

// A site has files in a directory.
type site struct {
	*Files
	dir  string
	time time.Time
	log  []string
}

func (s *site) write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	return path
}

func newSite(t *testing.T, a *authority, clientCA []byte) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), time: time.Now()}
	cert, key := a.issue("one", time.Now().Add(time.Hour))
	c := Config{Cert: s.write(t, "cert", cert), Key: s.write(t, "key", key),
		Log: func(line string) { s.log = append(s.log, line) },
		Now: func() time.Time { return s.time }}
	if clientCA != nil {
		c.ClientCA = s.write(t, "ca", clientCA)
	}
	var err error
	if s.Files, err = Open(c); err != nil {
		t.Fatal(err)
	}
	return s
}

// connect does a handshake, and returns the names of the server and of the client.
func (s *site) connect(t *testing.T, a *authority, client *tls.Certificate) (server, name string, err error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type result struct {
		name string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		raw, err := l.Accept()
		if err != nil {
			done <- result{"", err}
			return
		}
		defer raw.Close()
		conn := tls.Server(raw, s.TLS())
		r := result{err: conn.Handshake()}
		if chains := conn.ConnectionState().VerifiedChains; len(chains) > 0 {
			r.name = chains[0][0].Subject.CommonName
		}
		conn.Close()
		done <- r
	}()
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	c := &tls.Config{RootCAs: pool, InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		server = state.PeerCertificates[0].Subject.CommonName
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool})
		return err
	}}
	if client != nil {
		c.Certificates = []tls.Certificate{*client}
	}
	conn, err := tls.Dial("tcp", l.Addr().String(), c)
	if err == nil {
		_, err = conn.Read(make([]byte, 1)) // TLS 1.3 reports a rejected certificate here
		conn.Close()
		if err != nil && err.Error() == "EOF" {
			err = nil
		}
	}
	r := <-done
	return server, r.name, errors.Join(r.err, err)
}

// H-250: certificates are read again without a restart.
func TestReload(t *testing.T) {
	a := newAuthority(t)
	s := newSite(t, a, nil)
	var seen []error
	hashes := map[[sha256.Size]byte]bool{}
	s.Watch(func(now map[string][sha256.Size]byte, err error) {
		seen = append(seen, err)
		if err == nil {
			hashes[now[s.Cert]] = true
		}
	})
	if name, _, err := s.connect(t, a, nil); name != "one" || err != nil {
		t.Error(name, err)
	}
	cert, key := a.issue("two", time.Now().Add(time.Hour))
	s.write(t, "cert", cert) // the key follows later
	s.time = s.time.Add(reread.Interval)
	if name, _, err := s.connect(t, a, nil); name != "one" || err != nil || len(s.log) != 1 {
		t.Error(name, err, s.log)
	}
	s.write(t, "key", key)
	s.time = s.time.Add(reread.Interval)
	if name, _, err := s.connect(t, a, nil); name != "two" || err != nil || len(s.log) != 2 {
		t.Error(name, err, s.log)
	}
	if len(seen) != 3 || seen[0] != nil || seen[1] == nil || seen[2] != nil || len(hashes) != 2 {
		t.Error(seen, len(hashes))
	}
}

// H-251: a broken certificate leaves the old one in use, with one line in the log.
func TestBrokenCertificate(t *testing.T) {
	a := newAuthority(t)
	expired, _ := a.issue("late", time.Now().Add(-time.Hour))
	faults := map[string]func(*site) error{
		"garbage": func(s *site) error { s.write(t, "cert", []byte("x")); return nil },
		"missing": func(s *site) error { return os.Remove(s.Key) },
		"expired": func(s *site) error {
			cert, key := a.issue("late", time.Now().Add(-time.Hour))
			s.write(t, "cert", cert)
			s.write(t, "key", key)
			return nil
		},
		"another key": func(s *site) error { s.write(t, "cert", expired); return nil },
	}
	if runtime.GOOS != "windows" {
		faults["writable by others"] = func(s *site) error { return os.Chmod(s.Key, 0o666) }
	}
	for name, fault := range faults {
		s := newSite(t, a, nil)
		if err := fault(s); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			s.time = s.time.Add(reread.Interval)
			if got, _, err := s.connect(t, a, nil); got != "one" || err != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		if len(s.log) != 1 || !strings.Contains(s.log[0], "the old one stays in use") {
			t.Errorf("%s: %q", name, s.log)
		}
		if _, err := Open(s.Config); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// Byte order marks, at the beginning of a file or of a joined one, hide no certificate, key or authority.
func TestByteOrderMarks(t *testing.T) {
	const mark = "\ufeff"
	a, clients, others := newAuthority(t), newAuthority(t), newAuthority(t)
	s := newSite(t, a, []byte(mark+string(others.pem)+mark+string(clients.pem)))
	cert, key := a.issue("two", time.Now().Add(time.Hour))
	s.write(t, "cert", []byte(mark+string(cert)+mark+string(a.pem)))
	s.write(t, "key", []byte(mark+string(key)))
	s.time = s.time.Add(reread.Interval)
	for _, issuer := range []*authority{clients, others} {
		client, err := tls.X509KeyPair(issuer.issue("ada", time.Now().Add(time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		if server, name, err := s.connect(t, a, &client); server != "two" || name != "ada" || err != nil {
			t.Error(server, name, err)
		}
	}
	if len(s.log) != 0 {
		t.Errorf("%q", s.log)
	}
}

// H-252: certificates of clients, and a list of authorities that changes.
func TestClientCertificates(t *testing.T) {
	a, clients, others := newAuthority(t), newAuthority(t), newAuthority(t)
	pair := func(a *authority) *tls.Certificate {
		cert, err := tls.X509KeyPair(a.issue("ada", time.Now().Add(time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		return &cert
	}
	ada, stranger := pair(clients), pair(others)
	s := newSite(t, a, clients.pem)
	if _, name, err := s.connect(t, a, ada); name != "ada" || err != nil {
		t.Error(name, err)
	}
	if _, name, err := s.connect(t, a, nil); name != "" || err != nil { // for health; the guard requires one
		t.Error(name, err)
	}
	if _, name, err := s.connect(t, a, stranger); err == nil {
		t.Errorf("a stranger is let in as %q", name)
	}
	s.write(t, "ca", others.pem)
	s.time = s.time.Add(reread.Interval)
	if _, name, err := s.connect(t, a, ada); err == nil {
		t.Errorf("%q is let in", name)
	}
	if _, name, err := s.connect(t, a, stranger); name != "ada" || err != nil {
		t.Error(name, err)
	}
	s.write(t, "ca", []byte("x"))
	s.time = s.time.Add(reread.Interval)
	for _, client := range []*tls.Certificate{ada, stranger} {
		if _, name, err := s.connect(t, a, client); err == nil {
			t.Errorf("%q is let in with a broken list", name)
		}
	}
	if _, name, err := s.connect(t, a, nil); name != "" || err != nil { // for health
		t.Error(name, err)
	}
	if err := s.Usable(); err == nil || !strings.Contains(err.Error(), "authorities of client certificates") {
		t.Error(err)
	}
	if len(s.log) != 1 || !strings.Contains(s.log[0], "nobody is let in") {
		t.Error(s.log)
	}
}
