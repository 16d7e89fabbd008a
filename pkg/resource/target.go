package resource

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"mcp-bash/pkg/code"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/media"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/item"
)

// A target is what a request comes to: a URI and the provider that reads it.
type target struct {
	uri, provider string
	name          string // of the entry, "" for none
	declared      string // the MIME type its author gave it, or a template it fits; "" for none
}

var errNeither = mcp.Errorf(mcp.CodeInvalidParams, "Resource name or uri required")

// resolve finds out what a request means (RES-31). An entry that is named is
// used only for its own URI, so that no URI is sent to another's provider.
func (r *Resources) resolve(ctx context.Context, req Request) (*target, error) {
	if req.Name == "" && req.URI == "" {
		return nil, errNeither
	}
	if req.Name != "" {
		entry, err := r.FindName(ctx, req.Name)
		if err != nil {
			return nil, err
		}
		t := r.entryTarget(entry)
		if entry != nil && (req.URI == "" || req.URI == t.uri) {
			return t, nil
		}
		if req.URI == "" {
			return nil, notFound("name", req.Name)
		}
	}
	entry, err := r.FindURI(ctx, req.URI)
	if err != nil {
		return nil, err
	}
	if entry != nil {
		return r.entryTarget(entry), nil
	}
	name := r.providerOf(req.URI)
	if name == "" {
		return nil, notFound("uri", req.URI)
	}
	t := &target{uri: req.URI, provider: name}
	if r.TypeOf != nil {
		t.declared = r.TypeOf(ctx, req.URI)
	}
	return t, nil
}

func (r *Resources) entryTarget(entry json.RawMessage) *target {
	t := &target{uri: item.URI(r.Project, entry), provider: rawjson.TextOf(entry, "provider"),
		name: rawjson.TextOf(entry, "name")}
	if t.provider == "" {
		t.provider = item.ProviderOf(t.uri)
	}
	if mimeType := rawjson.TextOf(entry, "mimeType"); mimeType != derived(entry, t.uri) {
		t.declared = mimeType
	}
	return t
}

// derived is the type an entry gets whose author gave it none:
// an entry that has it was given none.
func derived(entry json.RawMessage, uri string) string {
	name := rawjson.TextOf(entry, "path")
	if name == "" {
		name = pathOf(uri)
	}
	if byName := media.ByName(name); byName != "" {
		return byName
	}
	return media.Text
}

// providerOf is the provider of a URI that no entry has; "" for none (RES-32).
func (r *Resources) providerOf(uri string) string {
	name := item.ProviderOf(uri)
	if !validProvider(name) {
		return ""
	}
	if r.scriptOf(name) != (code.File{}) {
		return name
	}
	git := name == "git" && uri[len("git")] == ':' // git:// is nothing the git provider reads
	if git || r.builtin(name) == nil {
		return ""
	}
	return name
}

// validProvider: only such names may become part of a path (RES-61).
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

// scriptOf returns the project's own provider of a valid name, no file when it has
// none (RES-70).
func (r *Resources) scriptOf(name string) code.File {
	file := code.Provider.Below(r.Project, name+".sh")
	if info, err := os.Stat(file.Path()); err != nil || !info.Mode().IsRegular() {
		return code.File{}
	}
	return file
}

// pathOf is the path part of a URI.
func pathOf(uri string) string {
	if _, rest, found := strings.Cut(uri, "://"); found {
		uri = rest
	}
	if at := strings.IndexAny(uri, "?#"); at >= 0 {
		uri = uri[:at]
	}
	return uri
}
