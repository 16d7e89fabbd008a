// Package scrape serves metrics at a separate address. Each program that can connect there can read them. It needs no
// right to call tools.
package scrape

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"mcp-bash/pkg/serve/httpd"
	"mcp-bash/pkg/text/ascii"
)

const (
	patience       = 10 * time.Second // for a request and for a response
	unusedTime     = 2 * time.Minute  // of a connection without a request; Prometheus asks each minute
	maxConnections = 64
	maxHeader      = 4096
)

// A Server answers GET /metrics.
type Server struct {
	listener *httpd.Listener
	http     http.Server
}

// Open opens an address as [httpd.ListenAt] does. It returns nil for "" and "off".
func Open(addr string) (*Server, error) {
	if addr == "" || addr == "off" {
		return nil, nil
	}
	l, err := httpd.ListenAt(addr)
	if err != nil {
		return nil, err
	}
	return &Server{listener: l}, nil
}

// URL returns the address of the metrics.
func (s *Server) URL() string {
	if addr := s.listener.Addr(); addr.Network() == "tcp" {
		return "http://" + addr.String() + "/metrics"
	}
	return s.listener.URL
}

// Serve begins to answer. text appends the metrics.
func (s *Server) Serve(text func(dst []byte) []byte) {
	s.http = http.Server{
		ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: unusedTime, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, ErrorLog: log.New(io.Discard, "", 0), // strangers can cause any number of lines
		ConnState: httpd.LimitConnections(maxConnections),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case s.listener.Local && !isLocal(r.Host):
				http.Error(w, "another Host", http.StatusForbidden)
			case r.URL.Path != "/metrics":
				http.NotFound(w, r)
			case r.Method != http.MethodGet && r.Method != http.MethodHead:
				w.Header().Set("Allow", "GET, HEAD")
				http.Error(w, "GET only", http.StatusMethodNotAllowed)
			default:
				w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
				w.Write(text(nil))
			}
		}),
	}
	go s.http.Serve(s.listener.Listener)
}

// isLocal reports whether a Host names this machine. A web page can make a browser connect to this machine, but only
// under a name of the page.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	_, err = netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil || ascii.EqualFold(name, "localhost")
}

// Close ends everything. It does nothing for nil.
func (s *Server) Close() {
	if s != nil {
		s.http.Close()
		s.listener.Close()
	}
}
