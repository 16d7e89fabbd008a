package server

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// stateless is the era without a handshake: each request says for itself what the client
// speaks, can do and wants to hear (modern section 2).
type stateless struct {
	roots   *clientRoots
	methods map[string]*method
	calls   *exchanges
	// what results have besides: how they are to be read, and of which server (M-30)
	complete, inputRequired, meta []rawjson.Member
}

func newStateless(info json.RawMessage, roots *clientRoots, calls *exchanges) *stateless {
	return &stateless{
		roots: roots, calls: calls, methods: map[string]*method{},
		complete:      []rawjson.Member{{Name: "resultType", Value: rawjson.Quote("complete")}},
		inputRequired: []rawjson.Member{{Name: "resultType", Value: rawjson.Quote("input_required")}},
		meta:          []rawjson.Member{{Name: mcp.MetaServerInfo, Value: info}},
	}
}

// serverInfo is what each result says of the server (M-30).
func serverInfo(p *project.Project) json.RawMessage {
	var b rawjson.Builder
	m := &p.Meta
	b.Object().Name("name").String(m.Name).Name("version").String(m.Version).Name("title").String(m.Title)
	return b.End().Bytes()
}

const methodDiscover = "server/discover"

// A requestMeta is what a request says in its _meta of revision and client, as JSON text; nil
// where it says nothing.
type requestMeta struct{ version, capabilities, clientInfo, level json.RawMessage }

func readMeta(meta json.RawMessage) (m requestMeta) {
	rawjson.Each(meta, func(name, value json.RawMessage) {
		switch string(name) {
		case `"` + mcp.MetaVersion + `"`:
			m.version = value
		case `"` + mcp.MetaCapabilities + `"`:
			m.capabilities = value
		case `"` + mcp.MetaClientInfo + `"`:
			m.clientInfo = value
		case `"` + mcp.MetaLogLevel + `"`:
			m.level = value
		}
	})
	return m
}

// claims reports whether a request belongs to this era: one that names a revision in its
// _meta, or has anything else there that only this era has (M-1).
func (*stateless) claims(method string, m *requestMeta) bool {
	return m.version != nil || m.capabilities != nil || m.clientInfo != nil || m.level != nil || method == methodDiscover
}

// peer reads what a request says of its client (M-10 to M-12).
func (st *stateless) peer(m *requestMeta) (peer, *mcp.Error) {
	refuse := func(text string) (peer, *mcp.Error) {
		return peer{}, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params").WithData(text)
	}
	version, ok := rawjson.Text(m.version)
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
	if rawjson.KindOf(m.capabilities) != rawjson.Object {
		return refuse("_meta must have " + mcp.MetaCapabilities + ", an object")
	}
	threshold := neverLogs
	if m.level != nil {
		text, _ := rawjson.Text(m.level)
		level, known := mcp.ParseLevel(text)
		if !known || text != level.String() {
			return refuse(mcp.MetaLogLevel + " must be one of the eight names of RFC 5424, in lower case")
		}
		threshold = func() mcp.Level { return level }
	}
	capabilities := mcp.ParseCapabilities(m.capabilities)
	return peer{capabilities: &capabilities, threshold: threshold, roots: st.roots.fallback, newest: true}, nil
}

// noLogs is above all levels: whoever names none gets no log messages (M-71).
const noLogs = mcp.Emergency + 1

func neverLogs() mcp.Level { return noLogs }

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
	e := mcp.Extra{Members: st.complete, Meta: st.meta}
	switch {
	case a.interim:
		e.Members = st.inputRequired
	case r.method.scope != "":
		e.Members = []rawjson.Member{st.complete[0], {Name: "ttlMs", Value: rawjson.Int(int(a.ttl.Milliseconds()))},
			{Name: "cacheScope", Value: rawjson.Quote(r.method.scope)}}
	}
	return e
}

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
func (s *Server) routeStateless(m *jsonrpc.Message, meta json.RawMessage, own *requestMeta) *request {
	if s.session.at(phaseClosing) {
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInternal, "Server shutting down"))
		return nil
	}
	peer, err := s.stateless.peer(own)
	if err != nil {
		s.refuse(m.ID, err)
		return nil
	}
	if m.Method == methodDiscover {
		s.reply(m.ID, func(dst []byte) []byte { return s.appendDiscovery(dst, &peer) })
		return nil
	}
	return s.admit(m, meta, s.stateless.methods, s.stateless, peer)
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
