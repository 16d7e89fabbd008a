// Package certs provides certificates for TLS, and reads them again when their files change.
package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/secretfile"
	"mcp-bash/pkg/text/ascii"
)

// A Config names the files, in PEM.
type Config struct {
	Cert, Key string
	ClientCA  string            // certificates that sign those of clients; "": clients need none
	Log       func(line string) // receives a line when files change
	Now       func() time.Time  // nil: [time.Now]
}

// Files are the certificates of a server. Its methods are safe for concurrent use.
type Files struct {
	Config
	mu      sync.Mutex
	checked time.Time
	pair    part
	clients part
	cert    *tls.Certificate
	pool    *x509.CertPool
	config  *tls.Config // with cert and pool
	watcher auth.Watcher
}

// A file is a path with the rule for it.
type file struct {
	path string
	rule secretfile.Rule
}

// Everybody may read certificates. They decide who is let in, and whose name the server has.
var (
	public = secretfile.Rule{Max: maxBytes}
	secret = secretfile.Rule{Max: maxBytes, Secret: true}
)

// A part is a group of files that are read together.
type part struct {
	files  []file
	stamps []folder.Stamp
	read   time.Time
	hash   [sha256.Size]byte // of the certificates
	fault  error
	logged string // the line about the fault, or ""
}

const (
	maxBytes = 1 << 20
	interval = time.Second // between two looks at the files
)

// Open reads the files.
func Open(c Config) (*Files, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &Files{Config: c, pair: part{files: []file{{c.Cert, public}, {c.Key, secret}}},
		clients: part{files: []file{{c.ClientCA, public}}}}
	if err := f.readPair(); err != nil {
		return nil, fmt.Errorf("certificate %s with the key %s: %w", c.Cert, c.Key, err)
	}
	if err := f.readClients(); err != nil {
		return nil, fmt.Errorf("certificates for clients %s: %w", c.ClientCA, err)
	}
	f.checked = c.Now()
	f.build()
	return f, nil
}

// TLS returns the configuration for a listener. Each handshake uses the current certificates.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current(), nil },
	}
}

// Usable returns an [*auth.Error] while no certificate of a client is accepted, because the list of authorities is
// unusable.
func (f *Files) Usable() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	if f.clients.fault == nil {
		return nil
	}
	return &auth.Error{
		Kind: auth.Unavailable, Reason: "the authorities of client certificates are unusable", Err: f.clients.fault,
	}
}

// current returns the configuration of a handshake.
func (f *Files) current() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return f.config
}

// refresh reads the files again if they have changed. The lock is held.
//
// A certificate that cannot be read leaves the old one in use, because its key is as good as before.
// Programs that renew certificates replace the two files one after the other. A list of client
// authorities that cannot be read lets nobody in, because the change may have removed one.
func (f *Files) refresh() {
	now := f.Now()
	if now.Sub(f.checked) < interval {
		return
	}
	f.checked = now
	changed := f.check(&f.pair, f.readPair, "certificate "+f.Cert, "the old one stays in use")
	if f.ClientCA != "" {
		changed = f.check(&f.clients, f.readClients, "certificates for clients "+f.ClientCA,
			"nobody is let in until it is corrected") || changed
	}
	if changed {
		f.build()
		f.report()
	}
}

// Watch gives the certificates to a watcher, now and whenever files were read again.
func (f *Files) Watch(w auth.Watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watcher = w
	f.report()
}

// report gives the certificates to the watcher. The lock is held.
func (f *Files) report() {
	if f.watcher == nil {
		return
	}
	hashes := map[string][sha256.Size]byte{f.Cert: f.pair.hash}
	if f.ClientCA != "" {
		hashes[f.ClientCA] = f.clients.hash
	}
	f.watcher(hashes, errors.Join(f.pair.fault, f.clients.fault))
}

// check reads files again if they have changed, and reports whether it did.
func (f *Files) check(p *part, read func() error, name, consequence string) bool {
	if p.fault == nil && p.unchanged() {
		return false
	}
	err := read()
	line := ""
	if err != nil {
		line = fmt.Sprintf("%s: %v; %s", name, err, consequence)
	}
	switch {
	case line == p.logged:
	case err != nil:
		f.Log(line)
	default:
		f.Log(name + ": usable again")
	}
	p.logged = line
	return true
}

// unchanged reports whether the files are certainly those that were read.
func (p *part) unchanged() bool {
	for i, file := range p.files {
		stamp := secretfile.Stamp(file.path)
		if stamp != p.stamps[i] || !stamp.Settled(p.read) {
			return false
		}
	}
	return true
}

// texts reads the files, which no other user may be able to change.
func (p *part) texts(now time.Time) (texts [][]byte, err error) {
	p.stamps, p.read = p.stamps[:0], now
	for _, file := range p.files {
		text, stamp, err := file.rule.Read(file.path)
		if err != nil && len(p.files) > 1 {
			err = fmt.Errorf("%s: %w", file.path, err)
		}
		if err != nil {
			return nil, err
		}
		p.stamps, texts = append(p.stamps, stamp), append(texts, text)
	}
	p.hash = sha256.Sum256(texts[0])
	return texts, nil
}

func (f *Files) readPair() (err error) {
	defer func() { f.pair.fault = err }()
	texts, err := f.pair.texts(f.Now())
	if err != nil {
		return err
	}
	cert, err := tls.X509KeyPair(ascii.PEM(texts[0]), ascii.PEM(texts[1]))
	if err != nil {
		return err
	}
	if end := cert.Leaf.NotAfter; f.Now().After(end) {
		return fmt.Errorf("it expired on %s", end.Format(time.DateOnly))
	}
	f.cert = &cert
	return nil
}

func (f *Files) readClients() (err error) {
	if f.ClientCA == "" {
		return nil
	}
	defer func() { f.clients.fault = err }()
	f.pool = x509.NewCertPool() // accepts nobody
	texts, err := f.clients.texts(f.Now())
	if err != nil {
		return err
	}
	if !f.pool.AppendCertsFromPEM(ascii.PEM(texts[0])) {
		return errors.New("no certificate in PEM")
	}
	return nil
}

// build makes the configuration of handshakes. A client may connect without a certificate, so that
// health can be asked for; the endpoint requires one.
func (f *Files) build() {
	f.config = &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{*f.cert},
	}
	if f.ClientCA != "" {
		f.config.ClientCAs, f.config.ClientAuth = f.pool, tls.VerifyClientCertIfGiven
		f.config.SessionTicketsDisabled = true // a resumed session would skip a new list of authorities
	}
}
