// Package stateless is the protocol of revision 2026-07-28. It has no handshake: each request
// names its revision and the capabilities of its client (modern section 2).
package stateless

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/calls/suspended"
	"mcp-bash/pkg/protocol/internal/offer"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
)

// A Stateless is the stateless protocol of one client. It implements [calls.Protocol].
type Stateless struct {
	Methods calls.Methods
	project *project.Project
	calls   *suspended.Client
	roots   func(context.Context, *calls.Request) roots.Scope
	results *Results
}

// Results have the members of each result: its type, and the server.
type Results struct{ complete, inputRequired, task, meta []rawjson.Member }

// NewResults returns the members of the results for all clients.
func NewResults(m *project.Meta) *Results {
	return &Results{
		complete:      []rawjson.Member{{Name: "resultType", Value: rawjson.Quote("complete")}},
		inputRequired: []rawjson.Member{{Name: "resultType", Value: rawjson.Quote("input_required")}},
		task:          []rawjson.Member{{Name: "resultType", Value: rawjson.Quote("task")}},
		meta:          []rawjson.Member{{Name: revision.MetaServerInfo, Value: offer.ServerName(m)}},
	}
}

// New returns the protocol of a new client. Its requests have the roots of a client that names none.
func New(p *project.Project, own roots.Scope, calling *suspended.Client, results *Results) *Stateless {
	return &Stateless{
		project: p, calls: calling, results: results, roots: func(context.Context, *calls.Request) roots.Scope { return own },
	}
}

// MethodDiscover is the method that returns the server's capabilities.
const MethodDiscover = "server/discover"

// A Meta contains the members of a request's _meta that belong to this protocol, as JSON text.
// Missing members are nil.
type Meta struct{ version, capabilities, clientInfo, level json.RawMessage }

// ReadMeta reads a request's _meta.
func ReadMeta(meta json.RawMessage) (m Meta) {
	rawjson.Each(meta, func(name, value json.RawMessage) {
		switch {
		case rawjson.NameIs(name, revision.MetaVersion):
			m.version = value
		case rawjson.NameIs(name, revision.MetaCapabilities):
			m.capabilities = value
		case rawjson.NameIs(name, revision.MetaClientInfo):
			m.clientInfo = value
		case rawjson.NameIs(name, revision.MetaLogLevel):
			m.level = value
		}
	})
	return m
}

// Claims reports whether a request belongs to this protocol: no other protocol has its method, or one of its members of
// _meta.
func (m *Meta) Claims(method string) bool {
	return m.version != nil || m.capabilities != nil || m.clientInfo != nil || m.level != nil || method == MethodDiscover
}

// Version returns the revision that the request names, or nil.
func (m *Meta) Version() json.RawMessage { return m.version }

// Capabilities returns the capabilities and the name of the client, as far as the request has them.
func (m *Meta) Capabilities() *mcp.Capabilities {
	c := mcp.ParseCapabilities(m.capabilities)
	c.Name, c.Version = rawjson.TextOf(m.clientInfo, "name"), rawjson.TextOf(m.clientInfo, "version")
	return &c
}

// ClientSession returns the properties of the client that a request may use.
func (st *Stateless) ClientSession(m *Meta) (calls.ClientSession, *mcp.Error) {
	refuse := func(text string) (calls.ClientSession, *mcp.Error) {
		return calls.ClientSession{}, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData(text)
	}
	version, ok := rawjson.Text(m.version)
	if !ok {
		return refuse("_meta must have " + revision.MetaVersion + ", a string")
	}
	if version != revision.Stateless {
		var b rawjson.Builder
		b.Object().Name("supported").Strings(revision.Versions()).Name("requested").String(version)
		e := mcp.Errorf(mcp.CodeUnsupportedVersion, "Unsupported protocol version")
		e.Data = b.End().Bytes()
		return calls.ClientSession{}, e
	}
	if rawjson.KindOf(m.capabilities) != rawjson.Object {
		return refuse("_meta must have " + revision.MetaCapabilities + ", an object")
	}
	threshold := noLogs
	if m.level != nil {
		text, _ := rawjson.Text(m.level)
		level, known := mcp.ParseLevel(text)
		if !known || text != level.String() {
			return refuse(revision.MetaLogLevel + " must be one of the eight names of RFC 5424, in lower case")
		}
		threshold = func() mcp.Level { return level }
	}
	return calls.ClientSession{Capabilities: m.Capabilities(), Threshold: threshold, Roots: st.roots, Newest: true,
		Links: true}, nil
}

// noLogs returns a threshold above all levels, for requests that name no level.
func noLogs() mcp.Level { return mcp.Emergency + 1 }

// Handle implements [calls.Protocol].
func (st *Stateless) Handle(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	if r.Method.Asks {
		return st.calls.Handle(ctx, r)
	}
	return r.Method.Handle(ctx, r)
}

// Extra implements [calls.Protocol]: the type of the result, the server, and how long a client may keep the result.
func (st *Stateless) Extra(r *calls.Request, a *calls.Answer) mcp.Extra {
	e := mcp.Extra{Members: st.results.complete, Meta: st.results.meta}
	switch {
	case a.Interim:
		e.Members = st.results.inputRequired
	case a.Task:
		e.Members = st.results.task
	case r.Method.Scope != "":
		e.Members = []rawjson.Member{st.results.complete[0], {Name: "ttlMs", Value: rawjson.Int(int(a.TTL.Milliseconds()))},
			{Name: "cacheScope", Value: rawjson.Quote(r.Method.Scope)}}
	}
	return e
}

// Fault implements [calls.Protocol]. The revision reserves the codes from -32099 to -32000, so codes of the handshake
// protocol and of scripts in that range are replaced.
func (*Stateless) Fault(e *mcp.Error) *mcp.Error {
	switch {
	case e.Own && e.Code == mcp.CodeMissingCapability:
	case e.Own && e.Code == mcp.CodeNotFound:
		e = &mcp.Error{Code: mcp.CodeInvalidParams, Message: e.Message, Data: e.Data}
	case e.Code >= -32099 && e.Code <= -32000:
		e = &mcp.Error{Code: mcp.CodeInternal, Message: e.Message, Data: e.Data}
	}
	return e
}

// Asker implements [calls.Protocol].
func (*Stateless) Asker(session.Sink) mcp.Asker { return nil }

// AppendDiscovery appends the result of server/discover.
func (st *Stateless) AppendDiscovery(dst []byte, client *mcp.Capabilities) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("resultType").String("complete").Name("supportedVersions").Strings(revision.Versions())
	offer.Capabilities{Has: st.Methods.Has, Changes: true, UI: client.UI, Tasks: st.Methods.Has("tasks/get")}.
		Append(b.Name("capabilities"))
	b.Optional("instructions", st.project.Meta.Instructions)
	b.Name("ttlMs").Int(int(st.project.Discovery.ToolsTTL.Milliseconds())).Name("cacheScope").String("public")
	offer.AppendServer(b.Name("_meta").Object().Name(revision.MetaServerInfo), &st.project.Meta)
	return b.End().End().Bytes()
}
