package server

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// stateless is the era without a handshake: each request says for itself what the client
// speaks, can do and wants to hear (modern section 2).
type stateless struct {
	project *project.Project
	roots   *clientRoots
	methods map[string]*method
	calls   *exchanges
	info    json.RawMessage // of the server, as it stands in each result (M-30)
}

func newStateless(p *project.Project, roots *clientRoots, calls *exchanges) *stateless {
	return &stateless{project: p, roots: roots, calls: calls, methods: map[string]*method{}, info: serverInfo(p)}
}

// serverInfo is what each result says of the server (M-30).
func serverInfo(p *project.Project) json.RawMessage {
	var b rawjson.Builder
	m := &p.Meta
	b.Object().Name("name").String(m.Name).Name("version").String(m.Version).Name("title").String(m.Title)
	return b.End().Bytes()
}

const methodDiscover = "server/discover"

// claims reports whether a request belongs to this era: one that names a revision in its
// _meta, or has anything else there that only this era has (M-1).
func (*stateless) claims(method string, meta json.RawMessage) bool {
	if method == methodDiscover {
		return true
	}
	found := false
	rawjson.Each(meta, func(name, _ json.RawMessage) {
		switch string(name) {
		case `"` + mcp.MetaVersion + `"`, `"` + mcp.MetaCapabilities + `"`, `"` + mcp.MetaClientInfo + `"`,
			`"` + mcp.MetaLogLevel + `"`:
			found = true
		}
	})
	return found
}

// peer reads what a request says of its client (M-10 to M-12).
func (st *stateless) peer(meta json.RawMessage) (peer, *mcp.Error) {
	refuse := func(text string) (peer, *mcp.Error) {
		return peer{}, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData(text)
	}
	version, ok := rawjson.Text(rawjson.Get(meta, mcp.MetaVersion))
	if !ok {
		return refuse("_meta must have " + mcp.MetaVersion + ", a string")
	}
	if version != mcp.Stateless {
		var b rawjson.Builder
		b.Object().Name("supported").Strings(mcp.Versions()).Name("requested").String(version)
		e := mcp.Errorf(mcp.CodeUnsupportedVersion, "Unsupported protocol version")
		e.Data = b.End().Bytes()
		return peer{}, e
	}
	declared := rawjson.Get(meta, mcp.MetaCapabilities)
	if rawjson.KindOf(declared) != rawjson.Object {
		return refuse("_meta must have " + mcp.MetaCapabilities + ", an object")
	}
	threshold := noLogs
	if v := rawjson.Get(meta, mcp.MetaLogLevel); v != nil {
		text, _ := rawjson.Text(v)
		level, known := mcp.ParseLevel(text)
		if !known || text != level.String() {
			return refuse(mcp.MetaLogLevel + " must be one of the eight names of RFC 5424, in lower case")
		}
		threshold = level
	}
	capabilities := mcp.ParseCapabilities(declared)
	return peer{
		capabilities: &capabilities, threshold: func() mcp.Level { return threshold },
		roots: st.roots.fallback, newest: true,
	}, nil
}

// noLogs is above all levels: whoever names none gets no log messages (M-71).
const noLogs = mcp.Emergency + 1

// handle is [era.handle].
func (st *stateless) handle(ctx context.Context, r *request) (*answer, error) {
	if r.method.asks {
		return st.calls.handle(ctx, r)
	}
	return r.method.handle(ctx, r)
}

// extra is [era.extra]: who answers, how to read the result, and for how long a client may
// keep it (M-30, M-31).
func (st *stateless) extra(r *request, a *answer) mcp.Extra {
	e := mcp.Extra{
		Members: []rawjson.Member{{Name: "resultType", Value: resultComplete}},
		Meta:    []rawjson.Member{{Name: mcp.MetaServerInfo, Value: st.info}},
	}
	if a.interim {
		e.Members[0].Value = resultInputRequired
	}
	if r.method.scope != "" {
		e.Members = append(e.Members, rawjson.Member{Name: "ttlMs", Value: rawjson.Int(int(a.ttl.Milliseconds()))},
			rawjson.Member{Name: "cacheScope", Value: rawjson.Quote(r.method.scope)})
	}
	return e
}

var resultComplete, resultInputRequired = rawjson.Quote("complete"), rawjson.Quote("input_required")

// fault is [era.fault]. The revision keeps the codes from -32000 to -32099 to itself, so
// what the handshake revisions and scripts send there gets another one (M-40).
func (*stateless) fault(e *mcp.Error) *mcp.Error {
	switch {
	case e.Own && e.Code == mcp.CodeMissingCapability:
	case e.Own && e.Code == mcp.CodeNotFound:
		e = &mcp.Error{Code: mcp.CodeInvalidParams, Message: e.Message, Data: e.Data}
	case e.Code >= -32099 && e.Code <= -32000:
		e = &mcp.Error{Code: mcp.CodeInternal, Message: e.Message, Data: e.Data}
	}
	return e
}

// routeStateless takes the steps of P-500 that this era has.
func (s *Server) routeStateless(m *jsonrpc.Message, meta json.RawMessage) *request {
	if s.session.at(phaseClosing) {
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInternal, "Server shutting down"))
		return nil
	}
	peer, err := s.stateless.peer(meta)
	if err != nil {
		s.refuse(m.ID, err)
		return nil
	}
	if m.Method == methodDiscover {
		s.reply(m.ID, func(dst []byte) []byte { return s.appendDiscovery(dst, &peer) })
		return nil
	}
	return s.admit(m, s.stateless.methods, s.stateless, peer)
}

// appendDiscovery is the result of server/discover (M-20, M-21).
func (s *Server) appendDiscovery(dst []byte, p *peer) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("resultType").String("complete").Name("supportedVersions").Strings(mcp.Versions())
	offer{methods: s.stateless.methods, changes: true, ui: p.capabilities.UI}.append(b.Name("capabilities"))
	if text := s.project.Meta.Instructions; text != "" {
		b.Name("instructions").String(text)
	}
	b.Name("ttlMs").Int(int(s.project.Discovery.ToolsTTL.Milliseconds())).Name("cacheScope").String("public")
	s.appendServerInfo(b.Name("_meta").Object().Name(mcp.MetaServerInfo))
	return b.End().End().Bytes()
}
