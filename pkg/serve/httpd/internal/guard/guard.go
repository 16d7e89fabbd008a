// Package guard decides which requests of HTTP reach the endpoint. It checks the host, the origin and the credential
// of a request, and limits the requests of each client.
package guard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/serve/httpd/internal/refuse"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of [New].
type Config struct {
	Local   bool     // only programs of this machine, such as a proxy, can connect
	Socket  bool     // the address is a socket file: any Host is allowed, because web pages cannot connect to it
	Hosts   []string // allowed values of Host, in addition to those of this machine; without ports
	Origins []string // of web pages that may use the server; "*": all

	Auth         auth.Authenticator // nil: no bearer tokens
	Certificates bool               // a request needs a client certificate
	Resource     *Resource          // nil: not described for OAuth clients
	PublicOrigin string             // of the server itself, if there is no Resource
	Public       bool               // the operator has prepared the server for other machines in another way
	Proxies      *proxies.Trusted   // trusted to state the addresses of their clients; nil: no proxies

	Limits Limits            // see [Guard.Limit]
	Log    func(line string) // receives a line for each rejected credential
	Now    func() time.Time  // nil: [time.Now]
	// Refused is called for each refused request; nil: it is not needed.
	Refused func(w http.ResponseWriter, r *http.Request, cause mcp.Cause)
}

// A Guard is the middleware. Its methods are safe for concurrent use.
type Guard struct {
	Config
	hosts, origins map[string]bool
	anyOrigin      bool
	running        atomic.Int64 // requests
	clients        *clients
	failures       *clients // the addresses of rejected credentials
}

// New returns a guard. The error has the reason.
func New(c Config) (*Guard, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	g := &Guard{Config: c, hosts: map[string]bool{}, origins: map[string]bool{}}
	if c.Audience() == Everybody && !g.authenticates() {
		return nil, ErrNoAuthentication
	}
	for _, host := range c.Hosts {
		name, ok := hostName(host)
		if !ok || strings.ContainsAny(host, "/*@") {
			return nil, fmt.Errorf("allowed host %q: not the name of a host", host)
		}
		g.hosts[name] = true
	}
	for _, origin := range c.Origins {
		switch u, err := weburl.Parse(origin); {
		case origin == "*" && !g.authenticates():
			return nil,
				fmt.Errorf("allowed origin *: any web page could use the server; name the origins, or require tokens")
		case origin == "*":
			g.anyOrigin = true
		case err == weburl.ErrPort:
			return nil, fmt.Errorf("allowed origin %q: %w", origin, err)
		case err != nil || u.Scheme+"://"+u.Host != origin:
			return nil, fmt.Errorf("allowed origin %q: not an origin such as https://example.com", origin)
		default:
			g.origins[ascii.Lower(origin)] = true
		}
	}
	g.Limit(c.Limits)
	return g, nil
}

// Limit sets the limits, before the first request.
func (g *Guard) Limit(l Limits) {
	g.Limits = l
	g.clients = newClients(l.Clients, rate.Limit(l.Rate), l.Burst)
	g.failures = newClients(l.Clients, rate.Limit(float64(l.Failures)/60), l.Failures) // a minute
}

// ErrNoAuthentication means that other machines could use the server without a credential.
var ErrNoAuthentication = errors.New("other machines could use the server without authentication")

// Wrap returns a handler that calls next for the requests that the guard accepts. Their context has
// the identity of the caller.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) })
}

func (g *Guard) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.RemoteAddr = g.Proxies.Client(r) // everything that counts or logs an address uses this one
	if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
		// net/http dropped the Content-Length, and a proxy in front may have used it to find the end of the body. So
		// the bytes that follow must not be read as a request (RFC 9112, 6.3). Of a request of HTTP/1.0, net/http drops
		// the Transfer-Encoding instead, without a trace.
		w.Header()["Connection"] = []string{"close"}
	}
	if e := g.place(r); e != nil {
		g.refuse(w, r, e)
		return
	}
	switch {
	case g.cors(w, r): // answered
	case g.describe(w, r): // answered
	case isProbe(r):
		next.ServeHTTP(w, r)
	default:
		g.forward(w, r, next)
	}
}

// forward authenticates a request, and counts it.
func (g *Guard) forward(w http.ResponseWriter, r *http.Request, next http.Handler) {
	identity, e := g.authenticate(r)
	if e != nil {
		g.refuse(w, r, e)
		return
	}
	if identity != nil {
		r = r.WithContext(auth.WithIdentity(r.Context(), identity))
	}
	g.Count(w, r, next)
}

// Count calls next, and counts the request of a client while it runs. The context has the identity. A request above a
// limit is refused.
func (g *Guard) Count(w http.ResponseWriter, r *http.Request, next http.Handler) {
	key := g.clientOf(r)
	if e := g.begin(key); e != nil {
		g.refuse(w, r, e)
		return
	}
	defer g.end(key)
	next.ServeHTTP(w, r)
}

// A refusal is the response to a request that does not reach the endpoint.
type refusal struct {
	status    int
	cause     mcp.Cause // for the record
	reason    string
	retry     time.Duration // 0: no Retry-After
	challenge string        // the value of WWW-Authenticate, or ""
}

func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, e *refusal) {
	g.record(w, r, e.cause)
	h := w.Header()
	if e.retry > 0 {
		h.Set("Retry-After", fmt.Sprint(int((e.retry+time.Second-1)/time.Second)))
	}
	if e.challenge != "" {
		h.Set("WWW-Authenticate", e.challenge)
	}
	refuse.Write(w, r, e.status, nil, mcp.Errorf(mcp.CodeInvalidRequest, "%s", e.reason))
}

func (g *Guard) record(w http.ResponseWriter, r *http.Request, cause mcp.Cause) {
	if g.Refused != nil {
		g.Refused(w, r, cause)
	}
}

// clientOf returns a key for the client that a request counts for. The key is the owner of the identity, or the
// address of a stranger without an identity. The key is "" for a program of this machine.
func (g *Guard) clientOf(r *http.Request) string {
	if id := auth.IdentityOf(r.Context()); id != nil || !g.FromStranger(r) {
		return id.Owner()
	}
	return remote(r)
}

// remote returns the address of a client, as a key for its failures. Of an IPv6 address, it is the
// first 64 bits, which belong to one network. It is "" for a socket file.
func remote(r *http.Request) string {
	a := proxies.Address(r.RemoteAddr)
	switch {
	case !a.IsValid():
		return ""
	case a.Is4():
		return a.String()
	}
	network, _ := a.Prefix(64)
	return network.String()
}

// place checks the target, the host and the origin of a request.
func (g *Guard) place(r *http.Request) *refusal {
	switch {
	case r.URL.Host != "" || r.URL.Scheme != "" || !strings.HasPrefix(r.RequestURI, "/"):
		return &refusal{status: http.StatusBadRequest, cause: mcp.CauseInvalid,
			reason: "the target of the request must be a path"}
	case !isProbe(r) && !g.hostAllowed(r.Host):
		return &refusal{status: http.StatusForbidden, cause: mcp.CauseOrigin,
			reason: "this Host is not allowed; see --allow-host"}
	case !g.originAllowed(r):
		return &refusal{status: http.StatusForbidden, cause: mcp.CauseOrigin,
			reason: "this Origin is not allowed; see --allow-origin"}
	}
	return nil
}

// isProbe reports whether a request asks for the health of the server. Balancers and engines send such requests without
// Host, or with an address as Host.
func isProbe(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// hostAllowed checks Host. So no web page can reach a server of this machine by a name that resolves to this machine
// (DNS rebinding). A server for other machines checks Host only if hosts are configured, because it requires a
// credential.
func (g *Guard) hostAllowed(host string) bool {
	if len(g.hosts) == 0 && (!g.Local || g.Socket) {
		return true
	}
	name, ok := hostName(host)
	return ok && (g.hosts[name] || g.Local && weburl.IsLoopback(name))
}

// hostName returns the name of a host in lower case, without the port.
func hostName(host string) (name string, ok bool) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if port != "" && !weburl.IsPort(port) {
			return "", false
		}
		host = name
	} else if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		host, ok = strings.CutSuffix(inner, "]")
		if !ok || net.ParseIP(host) == nil {
			return "", false
		}
	}
	return ascii.Lower(host), host != ""
}

// originAllowed checks the web page that sends a request. Programs send no Origin.
func (g *Guard) originAllowed(r *http.Request) bool {
	origins := r.Header["Origin"]
	switch len(origins) {
	case 0: // browsers send Sec-Fetch-Site even without Origin
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none"
	case 1:
	default:
		return false
	}
	origin := ascii.Lower(origins[0])
	if origin != "" && (g.named(origin) || origin == g.Resource.origin() || origin == g.PublicOrigin) {
		return true
	}
	scheme, host, found := strings.Cut(origin, "://")
	if !found || scheme != "http" && scheme != "https" || strings.ContainsAny(host, "/@?#") {
		return false
	}
	name, ok := hostName(host)
	return ok && (g.hosts[name] || g.Local && weburl.IsLoopback(name))
}

// named reports whether the operator named an origin.
func (g *Guard) named(origin string) bool {
	return g.anyOrigin && origin != "null" || g.origins[origin]
}

// The headers that a page of a named origin may send and read.
var (
	requestHeaders = []string{
		"accept", "authorization", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version",
		"mcp-session-id",
	}
	responseHeaders = "Mcp-Session-Id, WWW-Authenticate, Retry-After"
)

// parameterHeader is the prefix of the headers that repeat arguments of tools.
const (
	parameterHeader  = "mcp-param-"
	parameterLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
)

// cors lets the pages of named origins read responses. It answers a preflight, and reports whether
// it did.
func (g *Guard) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(g.origins) == 0 && !g.anyOrigin {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || !g.named(ascii.Lower(origin)) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", responseHeaders)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	var allowed []string
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		name = ascii.Lower(ascii.Trim(name))
		if slices.Contains(requestHeaders, name) ||
			strings.HasPrefix(name, parameterHeader) && strings.Trim(name, parameterLetters) == "" {
			allowed = append(allowed, name)
		}
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// An Audience describes the possible senders of a server's requests.
type Audience int

// The audiences. Each one includes those before it.
const (
	Programs  Audience = iota // programs of this machine
	PassedOn                  // also clients whose requests a proxy, a web page or a replica passes on
	Everybody                 // also each machine that reaches the address
)

// Audience describes the possible senders of the server's requests. A server at a plain address of this machine
// serves only programs of this machine. If the operator has prepared it for others, a proxy can pass on their
// requests. A socket file counts as such, because its usual client is a proxy.
func (c *Config) Audience() Audience {
	switch {
	case !c.Local:
		return Everybody
	case c.Socket || c.Public || c.authenticates() || len(c.Hosts) > 0 || len(c.Origins) > 0:
		return PassedOn
	}
	return Programs
}

func (c *Config) authenticates() bool { return c.Auth != nil || c.Certificates }

// IsOpen reports whether the operator has prepared the server for others than the programs of this machine, and it
// requires no credential. A socket file alone does not count, because only its user can open it.
func (c *Config) IsOpen() bool {
	return !c.authenticates() && (c.Public || len(c.Hosts) > 0 || len(c.Origins) > 0)
}

// FromStranger reports whether a request can come from another machine. A header of a proxy is enough, whatever the
// configuration.
func (g *Guard) FromStranger(r *http.Request) bool {
	return g.Audience() != Programs || isForwarded(r.Header)
}

// isForwarded reports whether a proxy has added a header about its client, the address that the client has used, or
// itself.
func isForwarded(h http.Header) bool {
	for name := range h { // in the canonical form
		switch {
		case name == "Via", name == "Cdn-Loop", strings.Contains(name, "Forwarded"), strings.HasPrefix(name, "X-Envoy-"),
			strings.HasPrefix(name, "X-Original-"), strings.HasPrefix(name, "Cf-"), strings.HasSuffix(name, "-Ip"),
			strings.HasSuffix(name, "Clientip"):
			return true
		}
	}
	return false
}
