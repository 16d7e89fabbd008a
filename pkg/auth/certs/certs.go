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
	"mcp-bash/pkg/auth/internal/reread"
	"mcp-bash/pkg/files/secretfile"
	"mcp-bash/pkg/text/ascii"
)

// A Config names the files, in PEM.
type Config struct {
	Cert, Key string
	ClientCA  string            // authorities of client certificates; "": clients need no certificate
	Log       func(line string) // receives a line when files change
	Now       func() time.Time  // nil: [time.Now]
}

// Files are the certificates of a server. Its methods are safe for concurrent use.
//
// If a new certificate cannot be read, the old one stays in use. Programs that renew certificates replace the two
// files one after the other. If a new list of client authorities cannot be read, no client is accepted, because the
// change may have removed an authority.
type Files struct {
	Config
	pair    *reread.Files[tls.Certificate]
	clients *reread.Files[*x509.CertPool]

	mu      sync.Mutex
	used    state
	config  *tls.Config // of used
	watcher auth.Watcher
}

// A state is the content of all files.
type state struct {
	pair    *reread.Content[tls.Certificate]
	clients *reread.Content[*x509.CertPool]
}

// Everybody may read certificates, but only the operator may change them: they identify the server and its clients.
var (
	public = secretfile.Rule{Max: maxBytes}
	secret = secretfile.Rule{Max: maxBytes, Secret: true}
)

const maxBytes = 1 << 20

// Open reads the files.
func Open(c Config) (*Files, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &Files{Config: c}
	opened := c.Now()
	elapsed := func() time.Duration { return c.Now().Sub(opened) }
	var err error
	f.pair, err = reread.Open(reread.Config[tls.Certificate]{
		Name: "certificate " + c.Cert, Consequence: "the old one stays in use", Keep: true, Parse: f.parsePair,
		Files: []reread.File{{Path: c.Cert, Rule: public}, {Path: c.Key, Rule: secret}},
		Log:   c.Log, Now: c.Now, Elapsed: elapsed,
	})
	if err != nil {
		return nil, fmt.Errorf("certificate %s with the key %s: %w", c.Cert, c.Key, err)
	}
	clients := reread.Config[*x509.CertPool]{
		Name: "certificates for clients " + c.ClientCA, Consequence: "nobody is let in until it is corrected",
		Parse: parseAuthorities, Log: c.Log, Now: c.Now, Elapsed: elapsed,
	}
	if c.ClientCA != "" {
		clients.Files = []reread.File{{Path: c.ClientCA, Rule: public}}
	}
	if f.clients, err = reread.Open(clients); err != nil {
		return nil, fmt.Errorf("certificates for clients %s: %w", c.ClientCA, err)
	}
	return f, nil
}

// TLS returns the configuration for a listener. Each handshake uses the current certificates.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current(), nil }}
}

// Usable returns an [*auth.Error] while no certificate of a client is accepted, because the list of authorities is
// unusable.
func (f *Files) Usable() error {
	f.current() // reports a change
	if fault := f.clients.Current().Fault; fault != nil {
		return &auth.Error{
			Kind: auth.Unavailable, Reason: "the authorities of client certificates are unusable", Err: fault,
		}
	}
	return nil
}

// current returns the configuration of a handshake.
func (f *Files) current() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := (state{f.pair.Current(), f.clients.Current()}); now != f.used {
		f.used, f.config = now, f.build(now)
		f.report()
	}
	return f.config
}

// Watch calls w with the certificates, now and after each reload.
func (f *Files) Watch(w auth.Watcher) {
	f.current()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watcher = w
	f.report()
}

// report calls the watcher with the certificates. The lock is held.
func (f *Files) report() {
	if f.watcher == nil {
		return
	}
	hashes := map[string][sha256.Size]byte{f.Cert: f.used.pair.Hash}
	if f.ClientCA != "" {
		hashes[f.ClientCA] = f.used.clients.Hash
	}
	f.watcher(hashes, errors.Join(f.used.pair.Fault, f.used.clients.Fault))
}

func (f *Files) parsePair(texts [][]byte) (tls.Certificate, error) {
	cert, err := tls.X509KeyPair(ascii.PEM(texts[0]), ascii.PEM(texts[1]))
	if err == nil && f.Now().After(cert.Leaf.NotAfter) {
		err = fmt.Errorf("it expired on %s", cert.Leaf.NotAfter.Format(time.DateOnly))
	}
	return cert, err
}

// parseAuthorities returns the authorities in a file, or an empty pool without a file.
func parseAuthorities(texts [][]byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, text := range texts {
		if !pool.AppendCertsFromPEM(ascii.PEM(text)) {
			return nil, errors.New("no certificate in PEM")
		}
	}
	return pool, nil
}

// build makes the configuration of handshakes. A client may connect without a certificate, so that it can ask for the
// health. The endpoint requires a certificate.
func (f *Files) build(of state) *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{of.pair.Value},
	}
	if f.ClientCA != "" {
		config.ClientCAs, config.ClientAuth = of.clients.Value, tls.VerifyClientCertIfGiven
		if of.clients.Fault != nil {
			config.ClientCAs = x509.NewCertPool() // accepts no client; nil would accept the authorities of the system
		}
		config.SessionTicketsDisabled = true // a resumed session would skip a new list of authorities
	}
	return config
}
