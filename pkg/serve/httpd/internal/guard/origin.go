package guard

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
)

// place checks the form of the target, the host and the origin of a request (H-201 to H-205).
func (g *Guard) place(r *http.Request) *refusal {
	switch {
	case r.URL.Host != "" || r.URL.Scheme != "" || !strings.HasPrefix(r.RequestURI, "/"):
		return &refusal{status: http.StatusBadRequest, reason: "the target of the request must be a path"}
	case !isProbe(r) && !g.hostAllowed(r.Host):
		return &refusal{status: http.StatusForbidden, reason: "this Host is not allowed; see --allow-host"}
	case !g.originAllowed(r):
		return &refusal{status: http.StatusForbidden, reason: "this Origin is not allowed; see --allow-origin"}
	}
	return nil
}

// isProbe reports whether a request asks for the health of the server. Balancers and engines send such
// requests without Host, or with an address as Host (H-4).
func isProbe(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// hostAllowed checks Host, so that no web page can reach a server of this machine by a name that
// leads to it (DNS rebinding). A server for other machines requires a credential, which such a page
// does not have. There, Host is checked only if hosts are given.
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
	case 0: // browsers add Sec-Fetch-Site to requests without Origin as well
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

// The headers that a page of a named origin may send and read (H-206).
var (
	requestHeaders = []string{
		"accept", "authorization", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version",
		"mcp-session-id",
	}
	responseHeaders = "Mcp-Session-Id, WWW-Authenticate, Retry-After"
)

// parameterHeader begins the headers that repeat arguments of tools.
const parameterHeader = "mcp-param-"

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
		if slices.Contains(requestHeaders, name) || strings.HasPrefix(name, parameterHeader) && isToken(name) {
			allowed = append(allowed, name)
		}
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// isToken reports whether a text consists of lower-case letters, digits and "-_".
func isToken(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
