package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is what resources are read with.
type Config struct {
	Project *project.Project
	// FindName and FindURI look up registry entries; they return nil for an unknown one.
	FindName, FindURI func(ctx context.Context, text string) (json.RawMessage, error)
	// Templates returns the resource templates. A nil function means that the project has no templates.
	Templates func(ctx context.Context) (*urimatch.Set, error)
	// Bound reports whether an entry has a URI of a scheme that is also the name of its
	// provider. A nil function means that there is no such entry.
	Bound func(ctx context.Context, scheme string) (bool, error)
	// UIMeta returns the _meta of the content of a UI resource (RES-324);
	// nil, or an empty answer: it has none.
	UIMeta func(ctx context.Context, uri string) json.RawMessage

	// New returns the built-in provider of a name, or nil.
	New     func(name string, c provider.Config) provider.Provider
	Builtin provider.Config
	Runner  *script.Runner
	Sandbox *sandbox.Sandbox // holds provider scripts to what they may do; nil holds none
	Common  project.Env      // what every script is given
	State   string           // the private directory of the run

	Log   mcp.LogFunc
	Debug func() bool // whether debug messages go anywhere
}

// Resources reads the resources of one project. It may be used from any
// goroutine.
type Resources struct {
	Config
	mu        sync.Mutex
	providers map[string]provider.Provider // the built-in ones in use
}

// New returns the resources of a project. It touches no disk.
func New(c Config) *Resources {
	return &Resources{Config: c, providers: map[string]provider.Provider{}}
}

const logger = "mcp.resources"

// A Request asks for one resource, by name, by URI, or both.
type Request struct {
	Name, URI string // "" when not given
	// Bounded: the context ends in the time the request allows, which then holds
	// for provider scripts too (RES-73).
	Bounded bool
}

// Read reads a resource. The error is an [*mcp.Error] for the client, or the
// context's.
func (r *Resources) Read(ctx context.Context, req Request) (*Content, error) {
	t, err := r.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, t, req.Bounded)
}

// Fetch reads a URI with the provider of a name: the project's own, else the
// built-in one (RES-70). The error is a [*provider.Failure] or the
// context's.
func (r *Resources) Fetch(ctx context.Context, name, uri string) ([]byte, error) {
	t := &target{uri: uri, provider: name}
	if entry, err := r.FindURI(ctx, uri); err == nil && entry == nil { // as a read of the server (RES-2)
		if templates, err := r.templates(ctx); err == nil {
			t.match(templates)
		}
	}
	data, _, err := r.fetch(ctx, t, false)
	var refusal *mcp.Error
	switch {
	case isUnsupported(err):
		return nil, &provider.Failure{Status: errFailed.Status, Message: fmt.Sprintf("%s %q", unsupportedText, name)}
	case errors.As(err, &refusal):
		return nil, &provider.Failure{Status: provider.FetchFailed, Message: refusal.Message}
	}
	return data, err
}

func (r *Resources) read(ctx context.Context, t *target, bounded bool) (*Content, error) {
	data, mimeType, err := r.fetch(ctx, t, bounded)
	if err != nil {
		return nil, r.refusal(t, err)
	}
	c := t.content(data, mimeType)
	if t.provider == uiProvider && r.UIMeta != nil {
		c.meta = r.UIMeta(ctx, t.uri)
	}
	return c, nil
}

// builtin returns the provider of a name, made once; nil when there is none.
func (r *Resources) builtin(name string) provider.Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, made := r.providers[name]
	if !made {
		if p = r.New(name, r.Builtin); p != nil { // names come from clients: no others are kept
			r.providers[name] = p
		}
	}
	return p
}

// environ is what a provider script is given (RES-72, RES-93, RES-174).
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
	env["MCPBASH_PROVIDERS_DIR"] = r.Project.Providers
	env["MCP_RESOURCES_ROOTS"] = rootList(r.Builtin.FileRoots())
	if name == uiProvider {
		env["MCPBASH_STATE_DIR"] = r.State
		env["MCPBASH_TOOLS_DIR"] = r.Project.Tools
		env["MCPBASH_REGISTRY_DIR"] = r.Project.Registry
		env["MCPBASH_UI_DIR"] = r.Project.UI
	}
	return env.ScriptEntries()
}

// rootList is the list of roots as the file provider reads it again. No roots
// must not become the default ones, and a root with a separator in its name not
// two others.
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

const uiProvider = "ui"

// extras are what scripts in the place of a built-in provider get beyond the
// others (E-4).
func extras(provider string) []string {
	switch provider {
	case "git":
		return []string{"SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS"}
	case "https":
		return []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"}
	}
	return nil
}
