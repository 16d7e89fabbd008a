package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// A target is a resolved request: a URI and the provider that reads it.
type target struct {
	uri, provider string
	name          string // name of the registry entry, or ""
	declared      string // MIME type that the entry or a matching template declares, or ""

	template string // name of the template that matches the URI, or ""
	values   []urimatch.Value
}

// isRemote reports whether the built-in provider uses the network.
func (t *target) isRemote() bool { return t.provider == "https" || t.provider == "git" }

var (
	errNeither   = mcp.Errorf(mcp.CodeInvalidParams, "Resource name or uri required")
	errDifferent = mcp.Errorf(mcp.CodeInvalidParams, "Resource name and uri belong to different resources")
)

// find finds the target of a request. A named entry is used only with its own URI, so no URI is sent to the provider of
// another entry.
func (r *Resources) find(ctx context.Context, req Request) (*target, error) {
	if req.Name == "" && req.URI == "" {
		return nil, errNeither
	}
	if req.Name != "" {
		entry, err := r.FindName(ctx, req.Name)
		if err != nil {
			return nil, err
		}
		switch {
		case entry != nil:
			t := NewEntry(r.Project, entry).target
			if req.URI != "" && req.URI != t.uri {
				return nil, errDifferent
			}
			return &t, nil
		case req.URI == "":
			return nil, NotFound("name", req.Name)
		}
	}
	entry, err := r.FindURI(ctx, req.URI)
	if err != nil {
		return nil, err
	}
	if entry != nil {
		t := entry.target
		return &t, nil
	}
	name, offered := r.providerOf(req.URI)
	if name == "" {
		return nil, NotFound("uri", req.URI)
	}
	templates, err := r.Templates(ctx)
	if err != nil && r.Scripts.Find(name) != (code.File{}) {
		return nil, err // neither the schemes nor the script's variables are known
	}
	if !offered {
		// The project declares a scheme with a template, or with an entry whose provider has that name. The comparison
		// is case-sensitive (RES-32a).
		scheme := urimatch.Scheme(req.URI)
		declared := templates.HasScheme(scheme)
		if !declared {
			if declared, err = r.Bound(ctx, scheme); err != nil {
				return nil, err
			}
		}
		if !declared {
			return nil, NotFound("uri", req.URI)
		}
	}
	t := &target{uri: req.URI, provider: name}
	t.match(templates)
	return t, nil
}

// match finds the template that matches the URI.
func (t *target) match(templates *urimatch.Set) {
	of, values, ok := templates.Match(t.uri)
	if !ok {
		t.declared = templates.Promised(t.uri)
		return
	}
	t.template, t.values, t.declared = of.Name, values, of.MIMEType
}

// Bound returns the schemes of entries whose provider has the same name.
func Bound(p *project.Project, entries []item.Item) map[string]bool {
	schemes := map[string]bool{}
	for _, entry := range entries {
		scheme := urimatch.Scheme(item.URI(p, entry.JSON))
		if scheme != "" && scheme == rawjson.TextOf(entry.JSON, "provider") {
			schemes[scheme] = true
		}
	}
	return schemes
}

// An Entry is a resource of the registry, prepared for reads.
type Entry struct {
	JSON   json.RawMessage
	target target
}

// NewEntry prepares an entry of a project's registry.
func NewEntry(p *project.Project, entry json.RawMessage) *Entry {
	t := target{uri: item.URI(p, entry), provider: rawjson.TextOf(entry, "provider"), name: rawjson.TextOf(entry, "name")}
	t.provider = cmp.Or(t.provider, item.ProviderOf(t.uri))
	mimeType := rawjson.TextOf(entry, "mimeType")
	if rawjson.True(rawjson.Get(entry, item.TypeDeclared)) || mimeType != derived(entry, t.uri) {
		t.declared = mimeType
	}
	return &Entry{entry, t}
}

// URI returns the URI of the resource.
func (e *Entry) URI() string { return e.target.uri }

// derived returns the MIME type of an entry that declares none. In a registry file of an earlier release, a type that
// differs from it was declared (R-54a).
func derived(entry json.RawMessage, uri string) string {
	name := cmp.Or(rawjson.TextOf(entry, "path"), pathOf(uri))
	return cmp.Or(media.ByName(name), media.Text)
}

// providerOf returns the provider of a URI without an entry, or "". offered is true for schemes
// that every project offers. A URI reaches a provider script only if the project declares the
// scheme, or if the script replaces a provider of such a scheme (RES-32, RES-32a).
func (r *Resources) providerOf(uri string) (name string, offered bool) {
	name = item.ProviderOf(uri)
	if !validProvider(name) {
		return "", false
	}
	script := r.Scripts.Find(name) != (code.File{})
	switch name {
	case "file", "https", uiProvider:
		return name, true
	case "echo":
		return name, !script
	case skillProvider: // a script of the project replaces it
		if !script && r.Skills != nil {
			return name, true
		}
	case "git":
		if uri[len("git")] != ':' { // git:// the built-in provider does not read git:// URIs
			return name, true
		}
	}
	if !script {
		return "", false
	}
	return name, false
}

// validProvider reports whether a name may become part of a path.
func validProvider(name string) bool {
	if name == "" || strings.Contains(name, "..") {
		return false
	}
	for i, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || strings.IndexByte("._+-", c) < 0) {
			return false
		}
	}
	return true
}

func pathOf(uri string) string {
	if _, rest, found := strings.Cut(uri, "://"); found {
		uri = rest
	}
	if at := strings.IndexAny(uri, "?#"); at >= 0 {
		uri = uri[:at]
	}
	return uri
}

// resolve finds the target of a request, if the caller may use it. A caller without permission gets the same error for
// known and unknown resources.
func (r *Resources) resolve(ctx context.Context, req Request) (*target, error) {
	t, err := r.find(ctx, req)
	name := req.Name
	switch e, ok := errors.AsType[*mcp.Error](err); {
	case err == nil:
		name = r.permission(t)
		if t.provider == uiProvider && r.pageOfTool(ctx, t.uri) {
			return t, nil
		}
	case !ok || e == errNeither || e.Code == mcp.CodeInternal:
		return nil, err
	}
	if refused := r.Project.Permit(r.Caller, auth.Resource, name, cmp.Or(req.URI, req.Name)); refused != nil {
		return nil, refused
	}
	return t, err
}

// permission returns the name that decides whether a caller may read a target, or "" if the project has no name for
// its URI.
func (r *Resources) permission(t *target) string {
	switch {
	case t.name != "":
		return t.name
	case leadsUp(t.uri):
		return ""
	case t.template != "":
		return t.template
	case t.provider == uiProvider:
		name, _ := ui.Name(t.uri)
		return name
	case t.provider == skillProvider && r.Scripts.Find(skillProvider) == (code.File{}):
		name, _, _ := strings.Cut(strings.TrimPrefix(t.uri, skillProvider+"://"), "/")
		return name
	}
	return ""
}

// maxEscapes is the maximum number of decoding passes. The last one must change nothing.
const maxEscapes = 4

// leadsUp reports whether a URI has a segment "..", escaped or not. Such a URI can refer to something outside of the
// template that it matches. A URI that changes in each of maxEscapes passes counts as such a URI.
func leadsUp(uri string) bool {
	decode := strings.NewReplacer("%2e", ".", "%2E", ".", "%2f", "/", "%2F", "/", "%5c", `\`, "%5C", `\`, "%25", "%",
		"%3f", "?", "%3F", "?", "%23", "#")
	for range maxEscapes {
		decoded := decode.Replace(uri)
		if decoded == uri {
			ends := func(c rune) bool { return strings.ContainsRune(`/\?#`, c) }
			return slices.Contains(strings.FieldsFunc(uri, ends), "..")
		}
		uri = decoded
	}
	return true
}

// pageOfTool reports whether a page belongs to a tool that the caller may call.
func (r *Resources) pageOfTool(ctx context.Context, uri string) bool {
	name, err := ui.Name(uri)
	if err != nil || r.Caller == nil || r.ToolsOfPage == nil {
		return false
	}
	tools, err := r.ToolsOfPage(ctx, name)
	return err == nil && slices.ContainsFunc(tools, func(tool string) bool {
		return r.Project.Permit(r.Caller, auth.Tool, tool, tool) == nil
	})
}
