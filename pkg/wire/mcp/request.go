package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

// Params are the parameters of a message. [ReadParams] finds the members once, when the message is read, and keeps
// their positions. So the text is searched once, and it can be copied.
type Params struct {
	Raw json.RawMessage // nil: absent or null
	at  [paramCount]rawjson.Span
}

// A Param is a member of parameters.
type Param int

// The parameters of the methods that clients call often. For other parameters, use [rawjson.Get] with Raw.
const (
	ParamName Param = iota
	ParamURI
	ParamArguments
	paramMeta
	ParamState
	ParamResponses
	ParamTimeout
	ParamTask
	ParamCursor
	ParamNextCursor
	ParamLimit
	ParamRef
	ParamArgument
	ParamContext
	ParamSubscription
	paramCount
)

var paramNames = [paramCount]string{
	"name", "uri", "arguments", "_meta", "requestState", "inputResponses", "timeoutSecs", "taskId", "cursor",
	"nextCursor", "limit", "ref", "argument", "context", "subscriptionId",
}

// ReadParams finds the members of parameters, which may be nil.
func ReadParams(raw json.RawMessage) Params {
	p := Params{Raw: raw}
	for name, at := range rawjson.Spans(raw) {
		for i := range paramNames {
			if rawjson.NameIs(name, paramNames[i]) {
				p.at[i] = at
				break
			}
		}
	}
	return p
}

// Clone returns parameters with their own text.
func (p *Params) Clone() Params { return Params{bytes.Clone(p.Raw), p.at} }

// IsObject reports whether the parameters are an object. The methods of this protocol accept no other form.
func (p *Params) IsObject() bool { return rawjson.KindOf(p.Raw) == rawjson.Object }

// Get returns the value of a parameter, or nil.
func (p *Params) Get(of Param) json.RawMessage {
	at := p.at[of]
	if at.To == 0 {
		return nil
	}
	return p.Raw[at.From:at.To:at.To]
}

// Text returns the content of a parameter that is a string, or "".
func (p *Params) Text(of Param) string {
	text, _ := rawjson.Text(p.Get(of))
	return text
}

// Int returns a positive integer parameter, or 0; see [rawjson.PositiveInt].
func (p *Params) Int(of Param) int { return rawjson.PositiveInt(p.Get(of)) }

// Meta returns the _meta, or nil if it is not an object.
func (p *Params) Meta() json.RawMessage {
	if meta := p.Get(paramMeta); rawjson.KindOf(meta) == rawjson.Object {
		return meta
	}
	return nil
}

// WithMeta returns parameters with another _meta.
func (p *Params) WithMeta(meta json.RawMessage) Params {
	return ReadParams(rawjson.With(p.Raw, paramNames[paramMeta], meta))
}

// Methods of requests that a server may send to a client on behalf of a script.
const (
	MethodElicit   = "elicitation/create"
	MethodSampling = "sampling/createMessage"
	MethodRoots    = "roots/list"
)

// An InputRequest asks the client for input while the server handles the client's request.
type InputRequest struct {
	Key    string // the script's key for the request, or ""
	Method string
	Params json.RawMessage
}

// An InputResponse is the client's answer to an [InputRequest].
type InputResponse struct {
	Result json.RawMessage
	Error  *Error
}

// An Asker sends input requests to the client, as the protocol revision requires.
type Asker interface {
	// Ready reports whether input requests can be sent now. It is false while the client does not read. Ready and Ask
	// do not block.
	Ready() bool
	// Patience is the minimum time that people get for an answer. If it is 0, the script determines the time.
	Patience() time.Duration
	// Ask sends the input requests whose capabilities the client has declared.
	Ask(requests []InputRequest) PendingInput
}

// A PendingInput is a set of input requests that were sent.
type PendingInput interface {
	// Responses returns one response for each request, in their order, when all have arrived.
	Responses() (list []InputResponse, done bool)
	// Wait waits for all responses. Its error is the error of the context.
	Wait(ctx context.Context) ([]InputResponse, error)
	// Close cancels unanswered requests and returns the responses. Missing responses have
	// neither Result nor Error.
	Close() []InputResponse
}

// maxInputKey is the length of the longest key, in bytes.
const maxInputKey = 64

// IsInputKey reports whether a key is valid: [A-Za-z0-9_.-]{1,64}.
func IsInputKey(key string) bool {
	return key != "" && len(key) <= maxInputKey && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	})
}

// SkillsExtension is the id of the extension for skills (SEP-2640).
const SkillsExtension = "io.modelcontextprotocol/skills"

// UIExtension is the id of the MCP Apps extension. UIMimeType is the type of its documents.
const (
	UIExtension = "io.modelcontextprotocol/ui"
	UIMimeType  = "text/html;profile=mcp-app"
)

// TasksExtension is the id of the extension for calls that outlive their request (SEP-2663).
const TasksExtension = "io.modelcontextprotocol/tasks"

// The server's tools for clients without the extension for tasks.
const (
	TaskStatus = "task_status"
	TaskWait   = "task_wait"
	TaskCancel = "task_cancel"
)

// TaskTools returns the names of the server's tools for tasks.
func TaskTools() []string { return []string{TaskStatus, TaskWait, TaskCancel} }

// Capabilities are the capabilities of a client that the server uses, and its name.
type Capabilities struct {
	Name, Version    string // of the client's clientInfo
	ElicitForm       bool
	ElicitURL        bool
	Sampling         bool
	SamplingTools    bool // sampling with tools and toolChoice
	Roots            bool
	RootsListChanged bool
	UI               bool            // the UI extension, with UIMimeType
	UIMimeTypes      json.RawMessage // the client's list, or nil
	Tasks            bool            // the extension for tasks; it does not exist in the handshake protocol
}

// Elicitation reports whether the client supports any elicitation.
func (c *Capabilities) Elicitation() bool { return c.ElicitForm || c.ElicitURL }

// CanBeAsked reports whether the client can answer any request of the server.
func (c *Capabilities) CanBeAsked() bool { return c.Elicitation() || c.Sampling || c.Roots }

// CanSample reports whether the client can answer a sampling request. A request with tools needs an additional
// capability.
func (c *Capabilities) CanSample(params json.RawMessage) bool {
	tools := rawjson.Get(params, "tools") != nil || rawjson.Get(params, "toolChoice") != nil
	return c.Sampling && (c.SamplingTools || !tools)
}

// ParseCapabilities parses a ClientCapabilities object. Missing members and members of the
// wrong type count as not declared.
func ParseCapabilities(v json.RawMessage) Capabilities {
	var c Capabilities
	c.ElicitForm, c.ElicitURL = parseElicitation(rawjson.Get(v, "elicitation"))
	if sampling := rawjson.Get(v, "sampling"); declared(sampling) {
		c.Sampling = true
		c.SamplingTools = declared(rawjson.Get(sampling, "tools"))
	}
	if roots := rawjson.Get(v, "roots"); declared(roots) {
		c.Roots = true
		c.RootsListChanged = rawjson.True(rawjson.Get(roots, "listChanged"))
	}
	if ui := rawjson.Path(v, "extensions", UIExtension); rawjson.KindOf(ui) == rawjson.Object {
		c.UIMimeTypes = rawjson.Get(ui, "mimeTypes")
		c.UI = acceptsUI(c.UIMimeTypes)
	}
	c.Tasks = rawjson.KindOf(rawjson.Path(v, "extensions", TasksExtension)) == rawjson.Object
	return c
}

// MissingTasks returns the error for a request that needs the extension for tasks.
func MissingTasks() *Error {
	e := Errorf(CodeMissingCapability, "Missing required client capability")
	e.Own = true
	var b rawjson.Builder
	e.Data = b.Object().Name("requiredCapabilities").Object().Name("extensions").Object().Name(TasksExtension).Object().
		End().End().End().End().Bytes()
	return e
}

// CanAnswer reports whether the client has declared the capability to answer an input request.
func (c *Capabilities) CanAnswer(r *InputRequest) bool {
	switch {
	case r.Method == MethodRoots:
		return c.Roots
	case r.Method == MethodSampling:
		return c.CanSample(r.Params)
	case rawjson.TextOf(r.Params, "mode") == "url":
		return c.ElicitURL
	}
	return c.ElicitForm
}

// declared reports whether a member declares a capability. null and false do not.
func declared(v json.RawMessage) bool {
	return !rawjson.Absent(v) && string(v) != "false"
}

// parseElicitation parses the member elicitation. "oob" is an old name of "url".
func parseElicitation(v json.RawMessage) (form, url bool) {
	if !declared(v) {
		return false, false
	}
	form = declared(rawjson.Get(v, "form"))
	url = declared(rawjson.Get(v, "url")) || declared(rawjson.Get(v, "oob"))
	return form || !url, url
}

// acceptsUI reports whether the client can show documents of type UIMimeType. It returns true for a client without a
// list of types.
func acceptsUI(mimeTypes json.RawMessage) bool {
	any := false
	for e := range rawjson.Elements(mimeTypes) {
		if s, _ := rawjson.Text(e); s == UIMimeType {
			return true
		}
		any = true
	}
	return !any
}

// MetaPrefix is the prefix of the names in _meta that belong to the protocol.
const MetaPrefix = "io.modelcontextprotocol/"

// Extra are members that a revision of the protocol adds to the result of a method.
type Extra struct {
	Members []rawjson.Member // of the result; added before its other members
	Meta    []rawjson.Member // of its _meta
}

// Owns reports whether the revision sets a member of the result. A member of a script with the same name is dropped.
func (e *Extra) Owns(name string) bool { return has(e.Members, name) }

// OwnsMeta is like Owns for a member of _meta. Only the server sets names with the prefix of the
// protocol.
func (e *Extra) OwnsMeta(name string) bool {
	return has(e.Meta, name) || len(e.Meta) > 0 && strings.HasPrefix(name, MetaPrefix)
}

// AppendMembers appends the members to an open result.
func (e *Extra) AppendMembers(b *rawjson.Builder) { appendAll(b, e.Members) }

// AppendMeta appends the members to an open _meta.
func (e *Extra) AppendMeta(b *rawjson.Builder) { appendAll(b, e.Meta) }

// AppendOwnMeta appends a _meta with only the members of e, if there are any.
func (e *Extra) AppendOwnMeta(b *rawjson.Builder) {
	if len(e.Meta) > 0 {
		b.Name("_meta").Object()
		e.AppendMeta(b)
		b.End()
	}
}

func appendAll(b *rawjson.Builder, list []rawjson.Member) {
	for _, m := range list {
		b.Name(m.Name).Raw(m.Value)
	}
}

func has(list []rawjson.Member, name string) bool {
	return slices.ContainsFunc(list, func(m rawjson.Member) bool { return m.Name == name })
}
