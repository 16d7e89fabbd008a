package server

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// handshake is the era of the revisions that begin with initialize, which settles for all
// requests of a session what the client can do.
type handshake struct {
	session  *session
	client   *client
	outgoing *outgoing
	roots    *clientRoots
	methods  map[string]*method
}

// peer is what a request may use of the client, as the session has it.
func (h *handshake) peer() peer {
	client := h.session.client.Load()
	return peer{
		capabilities: client, asker: handshakeAsker{h.outgoing}, threshold: h.session.threshold, roots: h.roots.current,
	}
}

// listening is [audience.listening].
func (h *handshake) listening() bool {
	return h.session.at(phaseReady) && h.session.revision.Load().ListChanged
}

// changed is [audience.changed].
func (h *handshake) changed(family string) {
	if h.listening() {
		h.client.notify("notifications/"+family+"/list_changed", []byte("{}"))
	}
}

// handle is [era.handle].
func (*handshake) handle(ctx context.Context, r *request) (*answer, error) {
	return r.method.handle(ctx, r)
}

// extra is [era.extra].
func (*handshake) extra(*request, *answer) mcp.Extra { return mcp.Extra{} }

// fault is [era.fault].
func (*handshake) fault(e *mcp.Error) *mcp.Error { return e }

// lifecycle handles the methods that move the session (protocol section 7),
// and those that are heard in every phase. It reports whether the message was
// one of them.
func (s *Server) lifecycle(m *jsonrpc.Message, isRequest, inBatch bool) bool {
	switch m.Method {
	case "initialize":
		if isRequest {
			s.initialize(m, inBatch)
		}
	case "notifications/initialized", "initialized":
		if s.session.at(phaseHandshake) {
			s.becomeReady()
		}
	case "ping":
		switch {
		case !isRequest:
		case s.session.at(phaseClosing):
			s.refuse(m.ID, mcp.Errorf(mcp.CodeShuttingDown, "Server shutting down"))
		default:
			s.reply(m.ID, nil)
		}
	case "shutdown":
		s.shutdown()
		if isRequest {
			s.reply(m.ID, nil)
		}
	case "exit":
		s.exitAsked(m, isRequest)
	case "notifications/cancelled":
		if isRequest { // a notification's name, asked for
			return false
		}
		s.cancelled(m)
	case "notifications/roots/list_changed":
		switch {
		case isRequest:
			return false
		case s.session.at(phaseReady):
			s.roots.changed()
		}
	case "notifications/message":
		if isRequest {
			s.refuse(m.ID, mcp.Errorf(mcp.CodeMethodNotFound,
				"Invalid Request").WithData("notifications/message is server-originated"))
		}
	default:
		return false
	}
	return true
}

// initialize settles the revision and what each side can do (protocol section 8).
func (s *Server) initialize(m *jsonrpc.Message, inBatch bool) {
	switch {
	case s.session.at(phaseClosing):
		s.refuse(m.ID, mcp.Errorf(mcp.CodeShuttingDown, "Server shutting down"))
		return
	case !s.session.at(phaseNew):
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInvalidRequest, "Server already initialized"))
		return
	case inBatch:
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData("initialize must not be batched"))
		return
	case m.Params != nil && !m.HasParams():
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params"))
		return
	}
	asked := rawjson.Get(m.Params, "protocolVersion")
	revision, err := s.negotiate(asked)
	if err != nil {
		s.refuse(m.ID, err)
		return
	}
	client := mcp.ParseCapabilities(rawjson.Get(m.Params, "capabilities"))
	if s.project.Minimal {
		client = mcp.Capabilities{}
	}
	s.session.revision.Store(revision)
	s.session.client.Store(&client)
	s.tellScripts(&client)
	s.session.enter(phaseHandshake)
	s.reply(m.ID, func(dst []byte) []byte { return s.appendGreeting(dst, revision, &client) })
	s.session.greeted.Store(true)
	s.debugf(logLifecycle, "Initialize requested=%s negotiated=%s", asked, revision.Name)
	info := rawjson.Get(m.Params, "clientInfo")
	s.debugf(logLifecycle, "Client: %s/%s pid=%d", rawjson.TextOf(info, "name"), rawjson.TextOf(info, "version"),
		os.Getppid())
	s.debugf(logLifecycle, "Elicitation support=%d", number(client.Elicitation()))
	s.debugf(logLifecycle, "Roots support=%d listChanged=%d", number(client.Roots), number(client.RootsListChanged))
	s.debugf(logLifecycle, "UI extension support=%d", number(client.UI))
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tellScripts leaves in the state directory what scripts of the older edition
// look there for: whether the client shows pages, and of which types (resources
// RES-303).
func (s *Server) tellScripts(client *mcp.Capabilities) {
	support, types := "0", client.UIMimeTypes
	if client.UI {
		support = "1"
		if rawjson.KindOf(types) != rawjson.Array {
			types = json.RawMessage(`["` + mcp.UIMimeType + `"]`)
		}
	} else if rawjson.KindOf(types) != rawjson.Array {
		types = json.RawMessage("[]")
	}
	for name, text := range map[string]string{"extensions.ui.support": support,
		"extensions.ui.mimetypes": string(types)} {
		if err := s.state.Put(name, text); err != nil {
			s.log(mcp.Warning, logPages, name+" cannot be written: "+err.Error())
		}
	}
}

// negotiate settles the revision (P-800). asked is the protocolVersion of the client.
func (s *Server) negotiate(asked json.RawMessage) (*mcp.Revision, *mcp.Error) {
	version, isText := rawjson.Text(asked)
	switch {
	case isText && version != "":
		if r := mcp.RevisionNamed(version); r != nil {
			return r, nil
		}
		s.notice("mcp-bash: unsupported protocol version %s; answering with %s", cli.Line(version[:min(len(version), 64)]),
			mcp.Latest.Name)
		return mcp.Latest, nil
	case isText || rawjson.Absent(asked):
		return mcp.Latest, nil
	}
	names := make([]string, len(mcp.Revisions))
	for i := range mcp.Revisions {
		names[i] = mcp.Revisions[i].Name
	}
	err := mcp.Errorf(mcp.CodeInvalidParams, "Unsupported protocol version: %s. Supported: %s", asked,
		strings.Join(names, ","))
	var b rawjson.Builder
	b.Object().Name("supported").Strings(names).Name("requested").Raw(asked)
	err.Data = b.End().Bytes()
	return nil, err
}

// appendGreeting is the result of initialize (P-801 to P-807).
func (s *Server) appendGreeting(dst []byte, r *mcp.Revision, client *mcp.Capabilities) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("protocolVersion").String(r.Name)
	offer{methods: s.handshake.methods, changes: r.ListChanged, ui: client.UI}.append(b.Name("capabilities"))
	s.appendServerInfo(b.Name("serverInfo"))
	if text := s.project.Meta.Instructions; r.Instructions && text != "" {
		b.Name("instructions").String(text)
	}
	return b.End().Bytes()
}

// appendServerInfo appends who the server is, as server.meta.json says (P-805).
func (s *Server) appendServerInfo(b *rawjson.Builder) {
	m := &s.project.Meta
	b.Object().Name("name").String(m.Name).Name("version").String(m.Version).Name("title").String(m.Title)
	if m.Description != "" {
		b.Name("description").String(m.Description)
	}
	if m.WebsiteURL != "" {
		b.Name("websiteUrl").String(m.WebsiteURL)
	}
	if m.Icons != nil {
		b.Name("icons").Raw(m.Icons)
	}
	b.End()
}

// bootstrapMeta is what the getting-started server says of itself (P-120).
func bootstrapMeta() project.Meta {
	return project.Meta{
		Name: "mcp-bash", Title: "MCP Bash Framework", Version: cli.Version,
		Description: "Getting started helper - configure MCPBASH_PROJECT_ROOT to build your own server",
	}
}

// becomeReady: the client has seen the answer, and may be asked things.
func (s *Server) becomeReady() {
	s.session.enter(phaseReady)
	s.debugf(logLifecycle, "Initialized handshake complete")
	s.roots.start(s.session.client.Load().Roots)
	s.changes.start()
}

// setLevel sets the least level of the log messages that the client gets; an empty
// one means info (P-1302).
func (s *Server) setLevel(m *jsonrpc.Message) {
	v := rawjson.Get(m.Params, "level")
	level := mcp.Info
	if text, isText := rawjson.Text(v); !rawjson.Absent(v) && !(isText && text == "") {
		parsed, known := mcp.ParseLevel(text)
		if !isText || !known {
			s.refuse(m.ID, mcp.Errorf(mcp.CodeInvalidParams, "Invalid log level"))
			return
		}
		level = parsed
	}
	s.session.level.Store(int32(level))
	s.reply(m.ID, nil)
}

// cancelled ends the request that the client no longer wants; nothing more is sent for
// it. An unknown id is ignored (protocol section 16).
func (s *Server) cancelled(m *jsonrpc.Message) {
	id := rawjson.Get(m.Params, "requestId")
	if id == nil {
		id = rawjson.Get(m.Params, "id")
	}
	if k := rawjson.KindOf(id); k != rawjson.String && k != rawjson.Number {
		return
	}
	key := jsonrpc.ID(id).Key()
	if (s.requests.cancelOne(key, errCancelledByClient) || s.streams.cancel(key)) && s.debugging() {
		s.debugf(logRPC, "Cancelled id=%s reason=%s", id, rawjson.TextOf(m.Params, "reason"))
	}
}
