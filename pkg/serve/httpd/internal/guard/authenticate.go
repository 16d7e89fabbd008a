package guard

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/serve/httpd/internal/refuse"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/wire/mcp"
)

// maxToken limits the length of a token, in bytes.
const maxToken = 16 << 10

// authenticate returns the identity of the caller, or nil if the server needs no credential.
func (g *Guard) authenticate(r *http.Request) (*auth.Identity, *refusal) {
	if !g.authenticates() {
		return nil, nil
	}
	identity, err := g.identify(r)
	if err == nil {
		return identity, nil
	}
	e, ok := errors.AsType[*auth.Error](err)
	if !ok {
		e = &auth.Error{Kind: auth.Unavailable, Reason: "credentials cannot be checked at present", Err: err}
	}
	if e.Kind == auth.Invalid || e.Kind == auth.Malformed {
		wait, first := g.failed(remote(r))
		if wait == 0 || first {
			g.log(r, e)
		}
		if wait > 0 {
			return nil, &refusal{status: http.StatusTooManyRequests, cause: mcp.CauseCredential,
				reason: "too many failed attempts", retry: wait}
		}
	} else if e.Kind == auth.Unavailable {
		g.log(r, e)
	}
	return nil, g.refusal(e)
}

// log logs a rejected credential, without any part of it.
func (g *Guard) log(r *http.Request, e *auth.Error) {
	if g.Log == nil {
		return
	}
	line := "rejected a request from " + r.RemoteAddr
	if g.Proxies == nil && isForwarded(r.Header) {
		line += ", a proxy (--trusted-proxy lets it state its client)"
	}
	line += ": " + e.Reason
	if e.Err != nil {
		line += " (" + e.Err.Error() + ")"
	}
	g.Log(line)
}

// identify finds the credential of a request and verifies it.
func (g *Guard) identify(r *http.Request) (*auth.Identity, error) {
	var certificate *auth.Identity
	if g.Certificates {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			return nil, &auth.Error{Kind: auth.Missing, Reason: "a client certificate is required"}
		}
		var err error
		if certificate, err = identityOf(r.TLS.PeerCertificates[0]); err != nil || g.Auth == nil {
			return certificate, err
		}
	}
	token, err := bearer(r)
	if err != nil {
		return nil, err
	}
	return g.Auth.Authenticate(r.Context(), token)
}

// bearer returns the token of a request.
func bearer(r *http.Request) (string, error) {
	if strings.Contains(ascii.Lower(r.URL.RawQuery), "access_token") {
		return "", &auth.Error{Kind: auth.Malformed,
			Reason: "a token in a URL is not accepted; send it in Authorization"}
	}
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", &auth.Error{Kind: auth.Missing, Reason: "a bearer token is required"}
	}
	if len(values) > 1 {
		return "", &auth.Error{Kind: auth.Malformed, Reason: "more than one Authorization header"}
	}
	scheme, token, found := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	switch {
	case !ascii.EqualFold(scheme, "Bearer"):
		return "", &auth.Error{Kind: auth.Invalid, Reason: "Authorization has another scheme than Bearer"}
	case !found || len(token) > maxToken || !isB64(token):
		return "", &auth.Error{Kind: auth.Malformed, Reason: "the token has an invalid form"}
	}
	return token, nil
}

// isB64 reports whether a text has the form of a bearer token (RFC 6750, b64token).
func isB64(text string) bool {
	text = strings.TrimRight(text, "=")
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("-._~+/", c)
	})
}

// maxSubject limits the subject of a certificate, in bytes.
const maxSubject = 1 << 10

// identityOf returns the identity of a certificate. Its name is the common name. Without
// one, it is the whole subject.
func identityOf(c *x509.Certificate) (*auth.Identity, error) {
	i := &auth.Identity{Name: c.Subject.CommonName, Subject: c.Subject.String(),
		Accepts: func() bool { return time.Now().Before(c.NotAfter) }}
	if i.Name == "" {
		i.Name = i.Subject
	}
	isControl := func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
	if i.Name == "" || len(i.Subject) > maxSubject || !utf8.ValidString(i.Name) || strings.ContainsFunc(i.Name,
		isControl) {
		return nil, &auth.Error{Kind: auth.Invalid, Reason: "the client certificate has no usable subject"}
	}
	return i, nil
}

// retryUnavailable is the time after which a check of credentials may work again.
const retryUnavailable = 5 * time.Second

// refusal returns the response for an error of authentication (RFC 6750, 3.1).
func (g *Guard) refusal(e *auth.Error) *refusal {
	out := &refusal{status: http.StatusUnauthorized, cause: mcp.CauseCredential, reason: e.Reason}
	switch e.Kind {
	case auth.Missing:
		out.challenge = g.challenge("", "", g.Resource.scopes())
	case auth.Malformed:
		out.status, out.challenge = http.StatusBadRequest, g.challenge("invalid_request", e.Reason, nil)
	case auth.Unavailable:
		out.status, out.retry, out.cause = http.StatusServiceUnavailable, retryUnavailable, mcp.CauseInternal
	default:
		out.challenge = g.challenge("invalid_token", e.Reason, g.Resource.scopes())
	}
	return out
}

// challenge returns a value of WWW-Authenticate.
func (g *Guard) challenge(code, description string, scopes []string) string {
	var list []string
	for _, p := range [][2]string{
		{"error", code}, {"error_description", description}, {"scope", strings.Join(scopes, " ")},
		{"resource_metadata", g.Resource.metadataURL()},
	} {
		if p[1] != "" {
			list = append(list, p[0]+`="`+quotable(p[1])+`"`)
		}
	}
	return ascii.Trim("Bearer " + strings.Join(list, ", "))
}

// quotable returns a text without the characters that a parameter of WWW-Authenticate must not contain.
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, text)
}

// Challenge returns the value of WWW-Authenticate for a token that lacks a scope.
func (g *Guard) Challenge(scope string) string {
	return g.challenge("insufficient_scope", "the token lacks a scope", []string{scope})
}

// A Resource describes the server to OAuth clients (RFC 9728). The methods accept nil.
type Resource struct {
	URL     *url.URL // of the endpoint
	Name    string   // for people, or ""
	Issuers []string // authorization servers
	Scopes  []string
}

const wellKnown = "/.well-known/oauth-protected-resource"

// metadataURL returns the address of the description.
func (s *Resource) metadataURL() string {
	if s == nil {
		return ""
	}
	return s.URL.Scheme + "://" + s.URL.Host + wellKnown + s.URL.EscapedPath()
}

// origin returns the origin of the server, as other machines see it.
func (s *Resource) origin() string {
	if s == nil {
		return ""
	}
	return ascii.Lower(s.URL.Scheme + "://" + s.URL.Host)
}

func (s *Resource) scopes() []string {
	if s == nil {
		return nil
	}
	return s.Scopes
}

// describe answers a request for the description of the server, and reports whether it was one.
func (g *Guard) describe(w http.ResponseWriter, r *http.Request) bool {
	s := g.Resource
	rest, found := strings.CutPrefix(r.URL.Path, wellKnown)
	rest = strings.TrimSuffix(rest, "/")
	if s == nil || !found || rest != "" && rest != strings.TrimSuffix(s.URL.Path, "/") && rest != "/mcp" {
		return false
	}
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		g.record(w, r, mcp.CauseInvalid)
		refuse.Text(w, r, http.StatusMethodNotAllowed, "method not allowed")
		return true
	}
	var b rawjson.Builder
	b.Object().Name("resource").String(s.URL.String()).Name("authorization_servers").Strings(s.Issuers)
	b.Name("bearer_methods_supported").Strings([]string{"header"})
	if scopes := s.scopes(); len(scopes) > 0 {
		b.Name("scopes_supported").Strings(scopes)
	}
	b.Optional("resource_name", s.Name)
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "max-age=300")
	w.Write(append(b.End().Bytes(), '\n'))
	return true
}
