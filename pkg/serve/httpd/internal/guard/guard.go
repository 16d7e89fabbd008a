// Package guard decides which requests of HTTP reach the endpoint. It checks the host, the origin
// and the credential of a request, and limits what a client can take from other clients.
package guard

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of [New].
type Config struct {
	Local   bool     // only programs of this machine can connect, a proxy among them
	Socket  bool     // the address is a socket file: any Host is allowed, because web pages cannot connect to it
	Hosts   []string // allowed values of Host, in addition to those of this machine; without ports
	Origins []string // of web pages that may use the server; "*": all

	Auth         auth.Authenticator // nil: no bearer tokens
	Certificates bool               // a request needs a client certificate
	Resource     *Resource          // nil: not described for OAuth clients
	PublicOrigin string             // of the server itself, if there is no Resource
	Public       bool               // the operator has prepared the server for other machines in another way
	Proxies      *proxies.Trusted   // state the addresses of their clients; nil: nobody does

	Limits Limits            // see [Guard.Limit]
	Log    func(line string) // receives a line for each rejected credential
	Now    func() time.Time  // nil: [time.Now]
	// Refused is called for each request that is not let in; nil: nobody wants to know.
	Refused func(w http.ResponseWriter, r *http.Request, cause mcp.Cause)
}

// A Guard is the middleware. Its methods are safe for concurrent use.
type Guard struct {
	Config
	hosts, origins map[string]bool
	anyOrigin      bool
	running        atomic.Int64 // requests
	clients        clients
	failures       failures
}

// New returns a guard. The error has the reason.
func New(c Config) (*Guard, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	g := &Guard{Config: c, hosts: map[string]bool{}, origins: map[string]bool{}}
	if c.Audience() == Everybody && !g.authenticates() {
		return nil, &NoAuthenticationError{}
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
	g.clients.init(l)
	g.failures.init(l)
}

// A NoAuthenticationError means that other machines could use the server without a credential.
type NoAuthenticationError struct{}

func (*NoAuthenticationError) Error() string {
	return "other machines could use the server without authentication"
}

// Wrap returns a handler that calls next for the requests that the guard accepts. Their context has
// the identity of the caller.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) })
}

func (g *Guard) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.RemoteAddr = g.Proxies.Client(r) // everything that counts or logs an address uses this one (H-218)
	if len(r.TransferEncoding) > 0 && !r.ProtoAtLeast(2, 0) {
		// A proxy in front of us may have found another end of the body, from a Content-Length that
		// net/http dropped. So nothing that follows is a request (RFC 9112, 6.3).
		w.Header()["Connection"] = []string{"close"}
	}
	if e := g.place(r); e != nil {
		g.refuse(w, r, e, mcp.CauseOrigin)
		return
	}
	switch {
	case g.cors(w, r): // answered
	case g.Resource.serve(w, r):
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
		g.refuse(w, r, e, mcp.CauseCredential)
		return
	}
	if identity != nil {
		r = r.WithContext(auth.WithIdentity(r.Context(), identity))
	}
	g.Count(w, r, next)
}

// Count calls next, and counts the request of a client while it runs. The context has the identity. A request
// above a limit is refused (H-220, H-221).
func (g *Guard) Count(w http.ResponseWriter, r *http.Request, next http.Handler) {
	key := g.clientOf(r)
	if e := g.begin(key); e != nil {
		g.refuse(w, r, e, mcp.CauseRate)
		return
	}
	defer g.end(key)
	next.ServeHTTP(w, r)
}

// A refusal is the response to a request that does not reach the endpoint.
type refusal struct {
	status    int
	reason    string
	retry     time.Duration // 0: no Retry-After
	challenge string        // the value of WWW-Authenticate, or ""
}

func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, e *refusal, cause mcp.Cause) {
	if g.Refused != nil {
		g.Refused(w, r, cause)
	}
	h := w.Header()
	if e.retry > 0 {
		h.Set("Retry-After", fmt.Sprint(int((e.retry+time.Second-1)/time.Second)))
	}
	if e.challenge != "" {
		h.Set("WWW-Authenticate", e.challenge)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(e.status)
	w.Write(jsonrpc.AppendError(nil, nil, mcp.Errorf(mcp.CodeInvalidRequest, "%s", e.reason).AppendJSON))
}

// clientOf returns a key for the client that a request counts for. It is the owner of the identity. A stranger without
// one is known by its address. The key is "" for a program of this machine.
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
