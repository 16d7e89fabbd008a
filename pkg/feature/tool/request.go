package tool

import (
	"encoding/json"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/tracecontext"
)

// A Request is one call of a tool.
type Request struct {
	// ID is the JSON text of the request's id, or "". It names files, and the script gets it (T-74).
	ID        string
	Name      string
	Arguments json.RawMessage      // compact object, or nil
	Meta      json.RawMessage      // compact object, or nil
	Trace     tracecontext.Context // of the transport; Meta has precedence
	// Timeout overrides the tool's timeout, in seconds. 0 does not.
	Timeout       int
	ProgressToken json.RawMessage // nil if absent
	Roots         roots.Scope
	Client        mcp.Capabilities
	// AnyStructured permits structured content that is not an object (T-211).
	AnyStructured bool
	// Links permits links to resources in the result (LR-2).
	Links bool
	// Live forwards progress and logs while the script runs, independent of the settings (M-70).
	Live bool
	// RequireCapabilities refuses tools that require capabilities which the client lacks (M-41).
	RequireCapabilities bool

	Grew     func(bytes int)  // called when the output needs more memory; may be nil
	Event    *events.Event    // its Draft is filled; may be nil
	Observer sandbox.Observer // observes the script; may be nil
	Listener Listener         // may be nil
	Asker    mcp.Asker        // nil if the client cannot be asked
	Slot     script.Slot      // is entered before a script starts; may be nil
}

// A Listener receives the reports of a running script, in order, on the goroutine of the call.
type Listener interface {
	// Ready reports whether somebody listens. Until then, reports stay in their files and no time
	// limit runs.
	Ready() bool
	Progress(p Progress)
	Log(m LogMessage)
	// Keep receives the reports of a script that ended without a listener.
	Keep(r Reports)
}

// Progress is a valid progress report of a script. The listener decides whether the client gets it (T-102).
type Progress struct {
	Value   json.RawMessage // a number
	Total   json.RawMessage // a number, or nil
	Message json.RawMessage // a string, or nil
}

// A LogMessage is one message of a script's log.
type LogMessage struct {
	Level  mcp.Level
	Logger json.RawMessage // nil if absent
	Data   json.RawMessage
}
