// Package completion suggests values for the arguments of prompts and resource templates. A script
// of the project provides the values. Without a script, they are derived from the typed text.
//
// [Completions.Complete] is the only entry. It finds the completion of a prompt or template by name,
// chooses the script that provides its values, and runs it with the typed text.
package completion

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/strict64"
	"mcp-bash/pkg/wire/mcp"
)

// A Config has the dependencies of [Completions]. The lookup functions return nil for an unknown item.
type Config struct {
	Project *project.Project
	// Registered returns the completion that is registered for a name. Its error is sent to the
	// client. Errors of the other functions count as unknown items.
	Registered func(ctx context.Context, name string) (json.RawMessage, error)
	Prompt     func(ctx context.Context, name string) (json.RawMessage, error)
	Resource   func(ctx context.Context, name string) (json.RawMessage, error)
	// Referred returns the resource with a URI, or the template that has or matches the URI.
	Referred func(ctx context.Context, uri string) (json.RawMessage, error)
	Runner   *script.Runner
	// Sandbox confines scripts. nil means that they are not confined.
	Sandbox   *sandbox.Sandbox
	Common    project.Env    // variables for every script
	State     *project.State // private directory for large values
	Caller    *auth.Identity // the caller of all requests; nil if no credential was required
	Log       mcp.LogFunc
	ScriptLog script.StderrFunc // receives the standard error of scripts
}

// Completions completes the arguments of one project. It is safe for concurrent use.
type Completions struct {
	Config
	base func() []string // variables that all requests share
}

// New returns the completions of a project.
func New(c Config) *Completions {
	return &Completions{c, sync.OnceValue(func() []string { return baseEnviron(c.Project, c.Common) })}
}

const logger = "mcp.completion"

// A Request asks for values of one argument. The members are unchecked parameters of the request, or nil.
type Request struct {
	Ref       json.RawMessage
	Argument  json.RawMessage
	Arguments json.RawMessage // the values of other arguments
	Limit     int             // maximum number of values; 0 for the maximum of the protocol
	Cursor    json.RawMessage
	Slot      script.Slot // is entered before a script starts; may be nil
}

// maxValues is the maximum number of values in a response.
const maxValues = 100

type query struct {
	name      string          // T-602
	template  json.RawMessage // the template whose variables are completed, or nil
	ref       json.RawMessage
	argument  string
	value     string
	arguments json.RawMessage
	limit     int
	from      position

	payload json.RawMessage // result of json
	hash    string          // result of digest: SHA-256 of payload
}

// Complete answers a request. The error is an [*mcp.Error] for the client, or the context's.
func (c *Completions) Complete(ctx context.Context, r *Request) (*Result, error) {
	q, err := c.parse(ctx, r)
	if err != nil {
		return nil, err
	}
	s, err := c.choose(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.from.source != "" && q.from.source != s.key() {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Cursor no longer valid")
	}
	if s.kind == none {
		return &Result{total: -1}, nil
	}
	return c.run(ctx, q, s, r.Slot)
}

// parse checks a request in the order of T-601.
func (c *Completions) parse(ctx context.Context, r *Request) (*query, error) {
	q := &query{ref: r.Ref, limit: maxValues, arguments: json.RawMessage("{}")}
	if err := c.identify(ctx, q); err != nil {
		return nil, err
	}
	if q.argument = rawjson.TextOf(r.Argument, "name"); q.argument == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Completion argument name is required")
	}
	q.value = rawjson.TextOf(r.Argument, "value")
	if r.Limit > 0 {
		q.limit = min(r.Limit, maxValues)
	}
	if rawjson.KindOf(r.Arguments) == rawjson.Object {
		q.arguments = r.Arguments
	}
	var err error
	q.from, err = decodeCursor(r.Cursor, q.name)
	return q, err
}

// identify finds the item that the request refers to.
func (c *Completions) identify(ctx context.Context, q *query) error {
	switch rawjson.TextOf(q.ref, "type") {
	case "":
		return mcp.Errorf(mcp.CodeInvalidParams, "Completion ref is required")
	case "ref/prompt":
		q.name = rawjson.TextOf(q.ref, "name")
		if q.name != "" {
			return c.Project.Permit(c.Caller, auth.Prompt, q.name, q.name)
		}
	case "ref/resource":
		if uri := rawjson.TextOf(q.ref, "uri"); uri != "" {
			entry, err := c.Referred(ctx, uri)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				entry = nil
			}
			name := rawjson.TextOf(entry, "name")
			if q.name = cmp.Or(name, uri); name != "" && rawjson.TextOf(entry, kinds.URITemplate) != "" {
				q.template = entry
			}
			return c.Project.Permit(c.Caller, auth.Resource, name, uri)
		}
	}
	return mcp.Errorf(mcp.CodeInvalidParams, "Completion ref is invalid")
}

// A position is the beginning of a page. The zero value is the first page.
type position struct {
	source string // key of the source, or "" for any source
	offset int
	own    string // cursor of the script, or ""
	pages  int    // the number of pages before this one
	output string // digest of the output for the page before, or ""
}

const (
	maxCursor    = 1 << 20  // bytes of a cursor that is decoded
	maxOwnCursor = 16 << 10 // bytes of a script's cursor
	maxOffset    = 1 << 30
	maxPages     = 1000 // of one completion
)

var errCursor = mcp.Errorf(mcp.CodeInvalidParams, "Invalid cursor")

// encodeCursor returns the cursor of the next page. Clients treat it as opaque.
func encodeCursor(q *query, s *source, next *position) string {
	var b rawjson.Builder
	b.Object().Name("ver").Int(1).Name("kind").String("completion").Name("name").String(q.name).
		Name("args").String(q.digest()).Name("offset").Int(next.offset).Name("script").String(s.key())
	b.Optional("cursor", next.own)
	b.Name("pages").Int(next.pages).Name("output").String(next.output)
	return base64.RawURLEncoding.EncodeToString(b.End().Bytes())
}

// decodeCursor parses the cursor of a request for a name. The caller checks that the source is unchanged.
func decodeCursor(v json.RawMessage, name string) (position, error) {
	if rawjson.Absent(v) || string(v) == `""` {
		return position{}, nil
	}
	text, ok := rawjson.Text(v)
	if !ok || len(text) > maxCursor {
		return position{}, errCursor
	}
	decoded, err := strict64.URL(strings.TrimRight(text, "="))
	if err != nil {
		return position{}, errCursor
	}
	c, err := rawjson.Check(decoded)
	if err != nil || rawjson.TextOf(c, "kind") != "completion" || rawjson.TextOf(c, "name") != name {
		return position{}, errCursor
	}
	p := position{
		source: rawjson.TextOf(c, "script"), own: rawjson.TextOf(c, "cursor"), output: rawjson.TextOf(c, "output"),
	}
	if n, ok := offsetOf(rawjson.Get(c, "pages")); ok {
		p.pages = n
	}
	p.offset, err = strconv.Atoi(string(rawjson.Get(c, "offset")))
	if err != nil || p.offset < 0 || p.offset > maxOffset || p.source == "" || !isOwnCursor(p.own) {
		return position{}, errCursor
	}
	return p, nil
}

// isOwnCursor reports whether a script's cursor fits in an environment variable.
func isOwnCursor(s string) bool { return len(s) <= maxOwnCursor && !strings.Contains(s, "\x00") }

// Kinds of sources, as they appear in cursors.
const (
	manual   = "manual"
	prompt   = "prompt"
	resource = "resource"
	none     = "none"
)

type source struct {
	kind    string
	dir     string          // directory of the script
	rel     string          // path of the script below dir, with slashes; the item's name for none
	timeout int             // seconds; 0 for no timeout
	item    json.RawMessage // the registry entry of a prompt, resource or template
}

func (s *source) key() string { return s.kind + ":" + s.rel }

func (s *source) script(p *project.Project) code.File {
	kind := code.ListedCompletion
	switch s.kind {
	case prompt:
		kind = code.PromptCompletion
	case resource:
		kind = code.ResourceCompletion
	}
	return kind.Below(p, s.rel)
}

// label returns the path of the script for messages.
func (s *source) label(p *project.Project) string { return folder.Label(p.Root, s.script(p).Path()) }

// choose returns the source with the highest precedence.
func (c *Completions) choose(ctx context.Context, q *query) (*source, error) {
	name := q.name
	item, err := c.Registered(ctx, name)
	if plain, ok := scaffolded(q.ref, name); ok && item == nil && err == nil {
		item, err = c.Registered(ctx, plain)
	}
	if err != nil {
		return nil, err
	}
	if item != nil {
		timeout := c.Project.Calls.ListedCompletionTimeout
		if own := rawjson.Get(item, "timeoutSecs"); !rawjson.Absent(own) {
			timeout = rawjson.PositiveInt(own)
		}
		return &source{kind: manual, dir: c.Project.Root, rel: rawjson.TextOf(item, "path"), timeout: timeout}, nil
	}
	if q.template != nil {
		if rel := c.firstExecutable(c.Project.Resources, kinds.TemplateSidecars(name)); rel != "" {
			return &source{kind: resource, dir: c.Project.Resources, rel: rel, item: q.template}, nil
		}
		return &source{kind: none, rel: name}, nil
	}
	for _, k := range [...]struct {
		kind, dir string
		permitted auth.ItemKind
		find      func(context.Context, string) (json.RawMessage, error)
	}{
		{prompt, c.Project.Prompts, auth.Prompt, c.Prompt},
		{resource, c.Project.Resources, auth.Resource, c.Resource},
	} {
		if c.Project.Permit(c.Caller, k.permitted, name, name) != nil {
			continue
		}
		item, err := k.find(ctx, name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || item == nil {
			continue // listing reports this error
		}
		if rel := c.sidecar(k.dir, rawjson.TextOf(item, "path")); rel != "" {
			timeout := c.Project.Calls.CompletionTimeout
			return &source{kind: k.kind, dir: k.dir, rel: rel, timeout: timeout, item: item}, nil
		}
	}
	return &source{kind: none, rel: name}, nil
}

// scaffolded removes the prefix that "scaffold prompt" and "scaffold resource" add to a name. "scaffold completion"
// adds none, so its script serves both (T-610a).
func scaffolded(ref json.RawMessage, name string) (plain string, ok bool) {
	if rawjson.TextOf(ref, "type") == "ref/prompt" {
		return strings.CutPrefix(name, "prompt.")
	}
	return strings.CutPrefix(name, "resource.")
}

// sidecar returns the script that completes the arguments of a file, or "".
func (c *Completions) sidecar(dir, file string) string {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return ""
	}
	return c.firstExecutable(dir, kinds.Sidecars(file))
}

// firstExecutable returns the first executable path below dir, or "". It then logs a file that is not executable.
func (c *Completions) firstExecutable(dir string, paths []string) string {
	found := ""
	for _, rel := range paths {
		file := filepath.Join(dir, filepath.FromSlash(rel))
		switch info, err := os.Stat(file); {
		case err == nil && isExecutable(info):
			return rel
		case err == nil && info.Mode().IsRegular() && found == "":
			found = file
		}
	}
	if found != "" {
		c.Log(mcp.Warning, logger, fmt.Sprintf(
			"Completion script %s is not executable, so nothing is suggested; run chmod +x %s",
			folder.Label(c.Project.Root, found), shell.Quote(found)))
	}
	return ""
}

// isExecutable reports whether a file can be started. Windows has no execute bit.
func isExecutable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}
