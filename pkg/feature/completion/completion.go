package completion

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
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
	Caller    *auth.Identity // of all requests; nil: it needed no credential
	Log       mcp.LogFunc
	ScriptLog script.StderrFunc // for the log (T-137)
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
	Arguments json.RawMessage // other arguments that are already known
	Limit     int             // maximum number of values; 0 for the maximum of the protocol
	Cursor    json.RawMessage
	Slot      script.Slot // is entered before a script starts; may be nil
}

// maxValues is the maximum number of values in a response (T-603).
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

// identify finds the item that the request refers to (T-602).
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
