package guard

import (
	"net/http"
	"net/url"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
)

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

// serve answers a request for the description, and reports whether it was one.
func (s *Resource) serve(w http.ResponseWriter, r *http.Request) bool {
	rest, found := strings.CutPrefix(r.URL.Path, wellKnown)
	rest = strings.TrimSuffix(rest, "/")
	if s == nil || !found || rest != "" && rest != strings.TrimSuffix(s.URL.Path, "/") && rest != "/mcp" {
		return false
	}
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
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
