package tool

import (
	"encoding/json"

	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

// A Request is one call of a tool, as whoever makes it sees it.
type Request struct {
	// ID is the JSON text of the request's id; it names files and is handed
	// to the script (T-74). Empty where there is none.
	ID        string
	Name      string
	Arguments json.RawMessage // compact object; nil for none
	Meta      json.RawMessage // compact object; nil for none
	// Timeout overrides the tool's own, in seconds; 0: it does not.
	Timeout       int
	ProgressToken json.RawMessage // nil for none
	Roots         roots.Scope
	Client        mcp.Capabilities
	// AnyStructured allows structured content that is no object (T-211).
	AnyStructured bool
	// Live forwards progress and logs while the script runs, whatever the settings (M-70).
	Live bool
	// RequireCapabilities refuses tools that need a capability which the client lacks (M-41).
	RequireCapabilities bool

	Grew     func(bytes int)  // is told how much more memory the output takes; nil: nobody wants to know
	Observer sandbox.Observer // nil: nobody observes what the script does
	Listener Listener         // nil: nobody listens
	Asker    mcp.Asker        // nil: the client cannot be asked
}

// A Listener gets what a script reports while it runs, in the script's order,
// on the goroutine of the call.
type Listener interface {
	// Ready returns a channel that is closed while there is somebody to listen. Until then
	// reports stay in their files, and no time limit runs.
	Ready() <-chan struct{} // [Always] where there always is
	Progress(p Progress)
	Log(m LogMessage)
	// Keep gets what a script reported that has ended while nobody listened.
	Keep(r Reports)
}

// Always is what [Listener.Ready] returns where somebody always listens.
var Always <-chan struct{} = closed()

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Progress is one report of a script, checked but not judged: whether it goes
// to the client is the listener's to say (T-102).
type Progress struct {
	Value   json.RawMessage // a number
	Total   json.RawMessage // a number, or nil
	Message json.RawMessage // a string, or nil
}

// A LogMessage is one message of a script's log.
type LogMessage struct {
	Level  mcp.Level
	Logger json.RawMessage // nil for none
	Data   json.RawMessage
}
