// Package forward passes requests on to the replica that has their suspended calls (H-504).
package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// mark is the header of requests that a replica has passed on.
const mark = "Mcp-Bash-Forwarded"

// Forwarded reports whether another replica has passed a request on. It must not be passed on again.
func Forwarded(r *http.Request) bool { return r.Header.Get(mark) != "" }

// A Forwarder connects to other replicas. It is safe for concurrent use.
type Forwarder struct {
	transport *http.Transport
	quiet     *log.Logger
}

// Limits of a connection to a replica.
const (
	maxHeader = 64 << 10
	// A replica whose machine is gone is noticed after these. An answer can take any time.
	probeAfter, probeEvery, probes = 5 * time.Second, 5 * time.Second, 3
)

// Patience is how long a replica may take to accept a connection.
const Patience = 3 * time.Second

// New returns a Forwarder. Replicas with https need certificates that config accepts; nil: those of
// the system's authorities.
func New(patience time.Duration, config *tls.Config) *Forwarder {
	dialer := &net.Dialer{Timeout: patience, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes,
	}}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Forwarder{
		// A connection for each request: a kept one can end while a request is sent, and nothing
		// shows whether the replica has seen it.
		transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: patience, Protocols: protocols,
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
		},
		quiet: log.New(io.Discard, "", 0),
	}
}

// Pass sends a request with this body to a replica, and its answer to w as it arrives. The request
// keeps its headers, the credential among them, and its host. The owner must come from a sealed
// state. Pass calls gone if there is no answer. It aborts the connection if the answer ends early.
func (f *Forwarder) Pass(w http.ResponseWriter, r *http.Request, body []byte, owner string, gone func()) {
	target, err := url.Parse(owner)
	if err != nil {
		gone()
		return
	}
	r = r.WithContext(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(bytes.Clone(body))) // it can outlive the answer
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	proxy := httputil.ReverseProxy{
		Transport: f.transport, FlushInterval: -1, ErrorLog: f.quiet,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = target.Scheme, target.Host
			p.Out.Header.Set(mark, "1")
			p.Out.Header.Del("Upgrade")
			p.Out.Header.Del("Connection")
		},
		ModifyResponse: func(answer *http.Response) error {
			for name := range answer.Header { // such as those for CORS, which both replicas set
				w.Header().Del(name)
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, _ error) {
			if context.Cause(r.Context()) == nil {
				gone()
			}
		},
	}
	proxy.ServeHTTP(w, r)
}
