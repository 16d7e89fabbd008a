// Package resource reads the resources of a project. It resolves a request to a URI and a provider,
// fetches the bytes, and returns them as text or blob. It knows nothing about JSON-RPC.
//
// [Resources.Read] serves clients. It finds the [Entry] of a URI among listed resources and
// templates, or accepts the URI because a provider of the project does. [Resources.Watch] reports when
// a resource that a client subscribed to has changed. Built-in providers are in pkg/provider, and
// [Scripts] runs those of the project.
package resource

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// A Config has the dependencies of [Resources].
type Config struct {
	Project *project.Project
	Scripts *Scripts // the provider scripts of the project
	// FindName and FindURI look up registry entries; they return nil for an unknown one.
	FindName func(ctx context.Context, name string) (json.RawMessage, error)
	FindURI  func(ctx context.Context, uri string) (*Entry, error)
	// Templates returns the resource templates.
	Templates func(ctx context.Context) (*urimatch.Set, error)
	// Bound reports whether an entry has a URI of a scheme that is also the name of its provider.
	Bound func(ctx context.Context, scheme string) (bool, error)
	// ToolsOfPage returns the names of the tools that link to a page, by its name. It may be nil.
	ToolsOfPage func(ctx context.Context, page string) ([]string, error)
	// UIMeta returns the _meta of a UI resource. The function and its result may be nil.
	UIMeta func(ctx context.Context, uri string) json.RawMessage

	// New returns the built-in provider with a name, or nil.
	New     func(name string, c provider.Config) provider.Provider
	Builtin provider.Config   // settings of the built-in providers
	Skills  provider.Provider // of skill:// URIs; nil if the project has no skills
	Runner  *script.Runner
	Sandbox *sandbox.Sandbox // confines provider scripts; nil for no confinement
	Common  project.Env      // variables for every script
	State   *project.State   // private directory for temporary files

	Caller *auth.Identity // the caller of all requests; nil if no credential was required
	Log    mcp.LogFunc
	Debug  func() bool // reports whether debug messages are logged

	ScriptLog script.StderrFunc // receives the standard error of scripts
}

// Resources reads the resources of one project. It is safe for concurrent use.
type Resources struct {
	Config
	mu        sync.Mutex
	providers map[string]provider.Provider // built-in providers that are in use
}

// New returns the resources of a project. It does not access the disk.
func New(c Config) *Resources {
	return &Resources{Config: c, providers: map[string]provider.Provider{}}
}

const logger = "mcp.resources"

// A Request asks for one resource, by name, by URI, or both.
type Request struct {
	Name, URI string // "" when not given
	// Bounded means that the context has the deadline of the request. It then replaces the timeout of provider scripts.
	Bounded bool
	Slot    script.Slot // is entered before a script or the network is used; may be nil
}

// Read reads a resource. The error is an [*mcp.Error] for the client, or the context's.
func (r *Resources) Read(ctx context.Context, req Request) (*Content, error) {
	t, err := r.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, t, &req)
}

// Fetch reads a URI with the named provider: the project's script, or the built-in one. The error is a
// [*provider.Failure] or the context's.
func (r *Resources) Fetch(ctx context.Context, name, uri string) ([]byte, error) {
	t := &target{uri: uri, provider: name}
	if entry, err := r.FindURI(ctx, uri); err == nil && entry == nil { // match templates, as a read by a server does
		if templates, err := r.Templates(ctx); err == nil {
			t.match(templates)
		}
	}
	data, _, err := r.fetch(ctx, t, &Request{})
	if _, ok := errors.AsType[*unsupportedError](err); ok {
		return nil, &provider.Failure{Status: errFailed.Status, Message: fmt.Sprintf("%s %q", unsupportedText, name)}
	}
	if refusal, ok := errors.AsType[*mcp.Error](err); ok {
		return nil, &provider.Failure{Status: provider.FetchFailed, Message: refusal.Message}
	}
	return data, err
}

func (r *Resources) read(ctx context.Context, t *target, req *Request) (*Content, error) {
	data, mimeType, err := r.fetch(ctx, t, req)
	if err != nil {
		return nil, r.refusal(t, err)
	}
	c := t.content(data, mimeType)
	if t.provider == uiProvider && r.UIMeta != nil {
		c.meta = r.UIMeta(ctx, t.uri)
	}
	return c, nil
}

// builtin returns the built-in provider with this name, or nil. It makes each provider once.
func (r *Resources) builtin(name string) provider.Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == skillProvider {
		return r.Skills
	}
	p, made := r.providers[name]
	if !made {
		if p = r.New(name, r.Builtin); p != nil { // names come from clients, so unknown ones are not stored
			r.providers[name] = p
		}
	}
	return p
}

// environ returns the environment of a provider script.
func (r *Resources) environ(t *target) []string {
	name := t.provider
	env := r.Project.ProviderBase(r.Common, extras(name)...)
	delete(env, project.TemplateName)
	delete(env, project.TemplateVars)
	if t.template != "" {
		var vars rawjson.Builder
		vars.Object()
		for _, v := range t.values {
			vars.Name(v.Name).String(v.Text)
		}
		env[project.TemplateName], env[project.TemplateVars] = t.template, string(vars.End().Bytes())
	}
	r.Caller.EachVariable(func(name, value string) { env[name] = value })
	env["MCPBASH_PROVIDERS_DIR"] = r.Project.Providers
	env["MCP_RESOURCES_ROOTS"] = rootList(r.Builtin.FileRoots())
	if name == uiProvider {
		env["MCPBASH_STATE_DIR"] = r.State.Dir
		env["MCPBASH_TOOLS_DIR"] = r.Project.Tools
		env["MCPBASH_REGISTRY_DIR"] = r.Project.Registry
		env["MCPBASH_UI_DIR"] = r.Project.UI
	}
	return env.ScriptEntries()
}

// rootList returns the roots in the form of MCP_RESOURCES_ROOTS. An empty list must not mean the
// default roots, and a root that contains the separator must not become two roots.
func rootList(roots []string) string {
	const separator = string(os.PathListSeparator)
	var list []string
	for _, root := range roots {
		if !strings.Contains(root, separator) {
			list = append(list, root)
		}
	}
	if len(list) == 0 {
		return separator
	}
	return strings.Join(list, separator)
}

const (
	uiProvider    = "ui"
	skillProvider = "skill"
)

// extras returns the additional variables of scripts that replace a built-in provider.
func extras(provider string) []string {
	switch provider {
	case "git":
		return []string{"SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS"}
	case "https":
		return []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"}
	}
	return nil
}

// AppendListed appends a registry entry in the form of resources/list. It omits internal members and resolves the URI
// for this project.
func AppendListed(dst []byte, p *project.Project, entry json.RawMessage) []byte {
	if rawjson.Get(entry, "uri") != nil {
		entry = rawjson.With(entry, "uri", rawjson.Quote(item.URI(p, entry)))
	}
	return rawjson.Over(dst).Object().Members(entry, "uriAuto", item.TypeDeclared, "requires", "arguments", "id",
		"version", "capabilities", "confine", "securityLevel").End().Bytes()
}

// AppendListedTemplate appends a registry entry in the form of resources/templates/list.
func AppendListedTemplate(dst []byte, item json.RawMessage) []byte {
	b := rawjson.Over(dst)
	b.Object()
	for _, m := range rawjson.Members(item) {
		switch m.Name {
		case "name", "uriTemplate", "title", "description", "mimeType", "icons", "annotations", "_meta":
			b.Name(m.Name).Raw(m.Value)
		}
	}
	return b.End().Bytes()
}

// A Watch detects changes of one resource: of its content, its type, or its error. Only Reconsider may be called
// concurrently with other methods.
type Watch struct {
	r       *Resources
	request Request
	target  *target
	stale   atomic.Bool       // resolve the URI again
	print   [sha256.Size]byte // hash of the last result
	stamp   provider.Stamp    // of the file when it was read
	stamped bool              // stamp is valid
}

// Watch reads a resource for the first time. The error is as for [Resources.Read].
func (r *Resources) Watch(ctx context.Context, req Request) (*Watch, error) {
	t, err := r.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	w := &Watch{r: r, request: Request{Name: req.Name, URI: t.uri}, target: t}
	if err := w.read(ctx, &req); err != nil {
		return nil, err
	}
	return w, nil
}

// URI returns the watched URI.
func (w *Watch) URI() string { return w.request.URI }

// Remote reports whether each read uses the network.
func (w *Watch) Remote() bool { return w.target.isRemote() }

// Reconsider makes the next read resolve the URI again, because the registry has changed. It is
// safe for concurrent use.
func (w *Watch) Reconsider() { w.stale.Store(true) }

// Still reports whether the content is certainly unchanged. If it returns false, the caller calls Changed.
func (w *Watch) Still() bool {
	if !w.stamped || w.stale.Load() {
		return false
	}
	stamp, ok := w.currentStamp()
	return ok && stamp == w.stamp
}

// Changed reads the resource and reports whether the result differs from the last one.
func (w *Watch) Changed(ctx context.Context) bool {
	before := w.print
	err := w.read(ctx, &Request{})
	var e *mcp.Error
	if err != nil && (!errors.As(err, &e) || ctx.Err() != nil) {
		return false // cancelled
	}
	return w.print != before
}

// read reads the resource and stores the hash of the result. It takes the stamp first, so the next
// read detects a change in between.
func (w *Watch) read(ctx context.Context, req *Request) error {
	var c *Content
	err := w.resolveIfStale(ctx)
	stamp, stamped := w.currentStamp()
	if err == nil {
		c, err = w.r.read(ctx, w.target, req)
	}
	h := sha256.New()
	var e *mcp.Error
	switch {
	case err == nil:
		fmt.Fprintf(h, "%q %q\n", c.mimeType, c.meta)
		h.Write(c.data)
	case errors.As(err, &e) && ctx.Err() == nil:
		fmt.Fprintf(h, "%d %q", e.Code, e.Message)
		stamped = false // the cause may disappear without a change of the file
	default:
		return err
	}
	h.Sum(w.print[:0])
	w.stamp, w.stamped = stamp, stamped
	return err
}

// resolveIfStale resolves the URI again if the registry has changed.
func (w *Watch) resolveIfStale(ctx context.Context) error {
	if !w.stale.CompareAndSwap(true, false) {
		return nil
	}
	t, err := w.r.resolve(ctx, w.request)
	if errors.Is(err, errDifferent) { // the name now belongs to another resource: watch the URI
		t, err = w.r.resolve(ctx, Request{URI: w.request.URI})
	}
	if err != nil {
		w.stale.Store(true)
		return err
	}
	w.target = t
	return nil
}

func (w *Watch) currentStamp() (provider.Stamp, bool) {
	if w.r.Scripts.Find(w.target.provider) != (code.File{}) {
		return provider.Stamp{}, false
	}
	s, ok := w.r.builtin(w.target.provider).(provider.Stamper)
	if !ok {
		return provider.Stamp{}, false
	}
	return s.Stamp(w.target.uri)
}
