package completion

import (
	"context"
	"encoding/json"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is what a project's completions are made with. The functions that
// find something return nil when there is none.
type Config struct {
	Project *project.Project
	// Registered returns the registration of a name. Its error is for the
	// client; that of the others says the same as nil.
	Registered func(ctx context.Context, name string) (json.RawMessage, error)
	Prompt     func(ctx context.Context, name string) (json.RawMessage, error)
	Resource   func(ctx context.Context, name string) (json.RawMessage, error)
	// Referred returns the resource with a URI, or the template that is written so or that the URI
	// matches.
	Referred func(ctx context.Context, uri string) (json.RawMessage, error)
	Runner   *script.Runner
	// Sandbox holds scripts to what they may do; nil holds none.
	Sandbox *sandbox.Sandbox
	Common  project.Env    // what every script is given
	State   *project.State // for what an environment cannot hold
	Log     mcp.LogFunc
}

// Completions completes the arguments of one project. It may be used from any
// goroutine.
type Completions struct {
	Config
	base func() []string // the part of the environment all scripts share
}

// New returns the completions of a project.
func New(c Config) *Completions {
	return &Completions{c, sync.OnceValue(func() []string { return baseEnviron(c.Project, c.Common) })}
}

const logger = "mcp.completion"

// A Request asks for values of one argument. The members are those of the
// request's parameters, nil where there is none; nothing of them was checked.
type Request struct {
	Ref       json.RawMessage
	Argument  json.RawMessage
	Arguments json.RawMessage // those the user has filled in already
	Limit     int             // how many values at most; 0: as many as there may be
	Cursor    json.RawMessage
}

// maxValues is how many values the protocol allows in an answer (T-603).
const maxValues = 100

// A query is a request that was understood.
type query struct {
	name      string          // T-602
	template  json.RawMessage // the one whose variables are completed, nil for none
	ref       json.RawMessage
	argument  string
	value     string
	arguments json.RawMessage
	limit     int
	from      position

	payload json.RawMessage // made by json
	hash    string          // its SHA-256, made by digest
}

// Complete answers a request. The error is an [*mcp.Error] for the client, or
// the context's.
func (c *Completions) Complete(ctx context.Context, r *Request) (*Result, error) {
	q, err := c.understand(ctx, r)
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
	if s.kind == builtin {
		return suggest(q, s), nil
	}
	return c.run(ctx, q, s)
}

// understand makes the checks of T-601, in their order.
func (c *Completions) understand(ctx context.Context, r *Request) (*query, error) {
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

// identify says what is to be completed (T-602).
func (c *Completions) identify(ctx context.Context, q *query) error {
	var ok bool
	switch kind := rawjson.TextOf(q.ref, "type"); kind {
	case "":
		return mcp.Errorf(mcp.CodeInvalidParams, "Completion ref is required")
	case "ref/prompt":
		q.name = rawjson.TextOf(q.ref, "name")
		ok = q.name != ""
	case "ref/resource":
		uri := rawjson.TextOf(q.ref, "uri")
		ok = uri != ""
		if ok {
			entry, err := c.Referred(ctx, uri)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if q.name = rawjson.TextOf(entry, "name"); err != nil || q.name == "" {
				q.name = uri
			} else if rawjson.TextOf(entry, kinds.URITemplate) != "" {
				q.template = entry
			}
		}
	}
	if !ok {
		return mcp.Errorf(mcp.CodeInvalidParams, "Completion ref is invalid")
	}
	return nil
}
