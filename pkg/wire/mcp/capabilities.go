package mcp

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// SkillsExtension is the id of the extension for skills (SEP-2640).
const SkillsExtension = "io.modelcontextprotocol/skills"

// UIExtension is the id of the MCP Apps extension. UIMimeType is the type of its documents
// (RES-301).
const (
	UIExtension = "io.modelcontextprotocol/ui"
	UIMimeType  = "text/html;profile=mcp-app"
)

// TasksExtension is the id of the extension for calls that outlive their request (SEP-2663).
const TasksExtension = "io.modelcontextprotocol/tasks"

// The server's own tools for clients without this extension (TASK-21).
const (
	TaskStatus = "task_status"
	TaskWait   = "task_wait"
	TaskCancel = "task_cancel"
)

// TaskTools returns the names of these tools.
func TaskTools() []string { return []string{TaskStatus, TaskWait, TaskCancel} }

// Capabilities are the capabilities of a client that the server uses (P-808), and its name.
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

// CanSample reports whether the client can answer a sampling request. A request with tools
// needs an additional capability (M-56).
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

// MissingTasks returns the error for a request that needs the extension for tasks (TASK-12).
func MissingTasks() *Error {
	e := Errorf(CodeMissingCapability, "Missing required client capability")
	e.Own = true
	var b rawjson.Builder
	e.Data = b.Object().Name("requiredCapabilities").Object().Name("extensions").Object().Name(TasksExtension).Object().
		End().End().End().End().Bytes()
	return e
}

// CanAnswer reports whether the client has declared the capability to answer an input request (M-56).
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

// declared reports whether a member declares a capability. null and false do not (P-808).
func declared(v json.RawMessage) bool {
	return !rawjson.Absent(v) && string(v) != "false"
}

// parseElicitation parses the member elicitation (P-2200). "oob" is an old name of "url".
func parseElicitation(v json.RawMessage) (form, url bool) {
	if !declared(v) {
		return false, false
	}
	form = declared(rawjson.Get(v, "form"))
	url = declared(rawjson.Get(v, "url")) || declared(rawjson.Get(v, "oob"))
	return form || !url, url
}

// acceptsUI reports whether the client can show documents of type UIMimeType. A client without
// a list of types can (RES-302).
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
