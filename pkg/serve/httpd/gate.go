package httpd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/certs"
	"mcp-bash/pkg/auth/oidc"
	"mcp-bash/pkg/auth/tokenfile"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/serve/httpd/internal/guard"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/weburl"
)

// An Access determines who may use a server. An empty text is not set.
type Access struct {
	TokenFile    string
	OIDCIssuer   string // the OpenID provider of access tokens
	OIDCAudience string // that access tokens must name; "": the public URL
	PublicURL    string // of the endpoint, as clients know it
	Cert, Key    string // files for TLS
	ClientCA     string // a file with the authorities of client certificates
	Hosts        []string
	Origins      []string
	Proxies      []string // trusted to state the addresses of their clients; see [proxies.Parse]
}

// A Gate decides which requests the server accepts. [NewGate] opens all files of an [Access].
type Gate struct {
	guard  *guard.Guard
	files  *certs.Files    // nil: without TLS
	tokens *authenticators // nil: without tokens
	log    func(line string)
}

// usable returns an [*auth.Error] while the gate refuses all clients.
func (g *Gate) usable() error {
	if g.files != nil {
		if err := g.files.Usable(); err != nil {
			return err
		}
	}
	if g.tokens != nil {
		return g.tokens.usable()
	}
	return nil
}

// NewGate opens the files of an access, and fetches the keys of the OpenID provider. With a certificate, the
// connections of the listener use TLS. log receives lines for the operator until the server has its console. An error
// can have a method Remedy, like an [*AddressError].
func NewGate(ctx context.Context, l *Listener, a Access, log func(line string)) (*Gate, error) {
	g := &Gate{log: log}
	say := func(line string) { g.log("mcp-bash: " + line) }
	if err := a.check(); err != nil {
		return nil, err
	}
	c := guard.Config{
		Local: l.Local, Socket: l.Addr().Network() == "unix", Hosts: a.Hosts, Origins: a.Origins,
		Certificates: a.ClientCA != "", Public: a.PublicURL != "" || a.Cert != "" || len(a.Proxies) > 0,
		Log: guard.NewQuota(say).Line,
	}
	var err error
	if c.Proxies, err = proxies.Parse(a.Proxies); err != nil {
		return nil, err
	}
	l.proxies = &proxies.Reader{
		Trusted: c.Proxies, Within: headerTime, Log: guard.NewQuota(say).Line,
		Done: func(c net.Conn) { timed(c).used.Store(false) }, // only a request counts
	}
	if a.Cert != "" {
		if g.files, err = certs.Open(certs.Config{Cert: a.Cert, Key: a.Key, ClientCA: a.ClientCA, Log: say}); err != nil {
			return nil, FileError(err, "")
		}
		l.tls = g.files.TLS()
		l.URL = strings.Replace(l.URL, "http:", "https:", 1)
	}
	endpoint, err := a.endpoint(l)
	if err != nil {
		return nil, err
	}
	var list authenticators
	if a.TokenFile != "" {
		if list.file, err = tokenfile.Open(a.TokenFile, say); err != nil {
			create := "mcp-bash token create CALLER --file " + shell.Quote(a.TokenFile)
			return nil, FileError(err, create)
		}
		g.tokens = &list
	}
	if a.OIDCIssuer != "" {
		audience := a.OIDCAudience
		if audience == "" {
			audience = endpoint.String()
		}
		if list.provider, err = oidc.Open(ctx, oidc.Config{Issuer: a.OIDCIssuer, Audience: audience,
			Log: say}); err != nil {
			return nil, err
		}
		g.tokens, c.Resource = &list, &guard.Resource{URL: endpoint, Issuers: []string{a.OIDCIssuer}}
	} else if endpoint != nil {
		c.PublicOrigin = endpoint.Scheme + "://" + endpoint.Host
	}
	if g.tokens != nil {
		c.Auth = g.tokens
	}
	g.guard, err = guard.New(c)
	if err == guard.ErrNoAuthentication {
		return nil, &remedied{fmt.Errorf("%s: %w", l.Addr(), err), "set --token-file (mcp-bash token create makes one), " +
			"--oidc-issuer or --tls-client-ca, or serve on 127.0.0.1"}
	}
	if err != nil {
		return nil, err
	}
	if c.Audience() == guard.Everybody && a.Cert == "" && (endpoint == nil || endpoint.Scheme != "https") {
		say("tokens reach " + l.URL + " without TLS; set --tls-cert and --tls-key, or --public-url of a proxy with TLS")
	}
	if c.IsOpen() {
		say("other machines or web pages need no credential to use " + l.URL +
			"; set --token-file, unless a proxy authenticates them")
	}
	return g, nil
}

// check returns an error if a setting lacks another one, or excludes it.
func (a *Access) check() error {
	for _, pair := range []struct{ set, lacks, name, needs string }{
		{a.Cert, a.Key, "--tls-cert", "--tls-key"}, {a.Key, a.Cert, "--tls-key", "--tls-cert"},
		{a.ClientCA, a.Cert, "--tls-client-ca", "--tls-cert"}, {a.OIDCAudience, a.OIDCIssuer, "--oidc-audience",
			"--oidc-issuer"},
	} {
		if pair.set != "" && pair.lacks == "" {
			return fmt.Errorf("%s needs %s", pair.name, pair.needs)
		}
	}
	return nil
}

// endpoint returns the address of the endpoint for clients, or nil if it is not known.
func (a *Access) endpoint(l *Listener) (*url.URL, error) {
	if a.PublicURL == "" {
		if u, err := url.Parse(l.URL); err == nil && u.Host != "" {
			if ip := net.ParseIP(u.Hostname()); l.Local || ip != nil && !ip.IsUnspecified() {
				return u, nil
			}
		}
		if a.OIDCIssuer != "" {
			return nil, errors.New("--oidc-issuer needs --public-url: clients ask for tokens for that address")
		}
		return nil, nil
	}
	u, err := weburl.Parse(a.PublicURL)
	switch {
	case err == weburl.ErrPort:
		return nil, fmt.Errorf("--public-url %q: %w", a.PublicURL, err)
	case err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("--public-url %q: not a URL such as https://mcp.example.com", a.PublicURL)
	}
	u.Scheme, u.Host = ascii.Lower(u.Scheme), ascii.Lower(u.Host)
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/mcp"
	}
	return u, nil
}

// authenticators verify tokens with a token file or an OpenID provider. The form of a token decides which of them is
// used.
type authenticators struct {
	file     *tokenfile.File
	provider *oidc.Verifier
}

func (a *authenticators) Authenticate(ctx context.Context, token string) (*auth.Identity, error) {
	if a.provider == nil || a.file != nil && strings.HasPrefix(token, tokenfile.Prefix) {
		return a.file.Authenticate(ctx, token)
	}
	return a.provider.Authenticate(ctx, token)
}

// usable returns an [*auth.Error] while no token is accepted.
func (a *authenticators) usable() (err error) {
	if a.file != nil {
		err = a.file.Usable()
	}
	if a.provider != nil && (a.file == nil || err != nil) {
		err = a.provider.Usable()
	}
	return err
}

// remembered is the number of identities and addresses that the guard remembers, apart from those with running
// requests.
const remembered = 10_000

// open sets the limits of the guard, and returns a handler that calls next for accepted requests.
func (g *Gate) open(s *Server, next http.Handler) http.Handler {
	env := s.Project.Env
	g.log = func(line string) { s.Console.Notice("%s", line) }
	if r := g.guard.Resource; r != nil { // H-421
		r.Name = s.Project.Meta.Title
		r.Scopes = slices.Sorted(maps.Keys(s.Project.Meta.Scopes))
	}
	g.guard.Public = g.guard.Public || s.Config.Server.Replica.Keys != nil // replicas are behind a balancer
	g.guard.Limit(guardLimits(env))
	g.guard.Refused = s.refused
	if sink := s.Config.Server.Events; sink != nil {
		g.watch(sink)
	}
	return g.guard.Wrap(next)
}

// watch records changes of certificates, tokens and keys.
func (g *Gate) watch(to events.Sink) {
	watcher := func(kind events.Type, of, name string) auth.Watcher {
		return (&events.Watch{Type: kind, Target: events.Target{Kind: of, Name: name}, To: to}).Set
	}
	if g.files != nil {
		g.files.Watch(watcher(events.KeyChanged, "certificate", g.files.Cert))
	}
	if g.tokens == nil {
		return
	}
	if file := g.tokens.file; file != nil {
		file.Watch(watcher(events.TokenChanged, "token_file", file.Path()))
	}
	if provider := g.tokens.provider; provider != nil {
		provider.Watch(watcher(events.KeyChanged, "issuer", provider.Issuer))
	}
}

// fromStranger reports whether a request can come from another machine. Then its client must not choose the roots.
func (s *Server) fromStranger(r *http.Request) bool {
	if s.Gate == nil {
		return !s.Listener.Local
	}
	return s.Gate.guard.FromStranger(r)
}

func guardLimits(env project.Env) guard.Limits {
	return guard.Limits{
		Requests:       settings.Int(env, "MCPBASH_HTTP_MAX_REQUESTS"),
		ClientRequests: settings.Int(env, "MCPBASH_HTTP_MAX_CLIENT_REQUESTS"),
		Rate:           settings.Int(env, "MCPBASH_HTTP_RATE"), Burst: settings.Int(env, "MCPBASH_HTTP_BURST"),
		Failures: settings.Int(env, "MCPBASH_HTTP_AUTH_FAILURES"), Clients: remembered,
	}
}
