package resource

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/wire/mcp"
)

// resolve finds the target of a request, if the caller may use it. For a caller who may not, an unknown resource looks
// like a known one (H-424).
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

// maxEscapes is how often a URI may be escaped.
const maxEscapes = 4

// leadsUp reports whether a URI has a segment "..", escaped or not. Such a URI can mean something outside of the
// template that it matches. A URI that is escaped more often than anybody does counts as one.
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
