// Package tool calls tools. It finds a tool in the registry, checks the policy, runs the script
// with the arguments, and makes the result. It knows nothing about JSON-RPC, sessions and protocol
// revisions.
//
// [Tools.Call] takes a [Request] and returns a [Result], which writes itself as JSON. On the way, the
// script's progress, logs and questions go to the [Listener] and the asker of the request. An error
// means that no script ran, or that the caller gave up. A script that fails is a result whose
// IsError is set. [Tools.DryRun] and [Tools.Try] serve the commands that test tools.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/tracecontext"
)

// A Config has the dependencies of [Tools].
type Config struct {
	Project *project.Project
	// Find returns the registry entry of a tool, or nil.
	Find func(ctx context.Context, name string) (json.RawMessage, error)
	// Near returns the tool with the most similar name, or "". It may be nil.
	Near   func(ctx context.Context, name string) string
	Level  access.Level // tools that need a higher level are refused
	Policy *policy.Policy
	Runner *script.Runner
	// Sandbox confines tools. nil means that they are not confined.
	Sandbox   *sandbox.Sandbox
	Common    project.Env // variables for every script
	State     *project.State
	Results   *results.Client // large results of the client; nil: they are not stored
	Caller    *auth.Identity  // the caller of all calls; nil if no credential was required
	Log       mcp.LogFunc
	Debug     func() bool       // reports whether debug messages are logged
	Stderr    io.Writer         // receives copies of standard error if configured
	ScriptLog script.StderrFunc // receives the standard error of scripts
}

// Tools calls the tools of one project. It is safe for concurrent use.
type Tools struct {
	Config
	*shared
}

// shared is the state that the tools of all clients have in common.
type shared struct {
	project *project.Project
	base    []string
	files   *handoff.Pool
	schemas schema.Cache
	digests digests
	counter atomic.Int64
	inherit sync.Once
	faults  mcp.LogFunc // receives faults of this process
	// reviewed has the scripts that succeeded and whose text was searched for mistakes.
	reviewed sync.Map
	bash     sync.Map        // reports for scripts whether Bash runs them
	watcher  handoff.Watcher // of calls that wait for their client
}

// New returns the tools of a project.
func New(c Config) *Tools {
	return &Tools{c, &shared{
		project: c.Project,
		base:    baseEnviron(c.Project, &c.Project.Scripts.Tools, c.Common, c.State.Dir),
		files:   c.State.Files(),
		faults:  mcp.Sparse(c.Log),
	}}
}

// ForClient returns the tools for a client: messages of its calls go to log, and it may call the tools that its
// identity permits.
func (t *Tools) ForClient(caller *auth.Identity, stored *results.Client, log mcp.LogFunc,
	debug func() bool) *Tools {
	policy := *t.Policy
	policy.Log = log
	c := t.Config
	c.Policy, c.Caller, c.Results, c.Log, c.Debug = &policy, caller, stored, log, debug
	return &Tools{c, t.shared}
}

const logger = "mcp.tools"

func (t *Tools) unique() string { return strconv.FormatInt(t.counter.Add(1), 10) }

// A Request is one call of a tool.
type Request struct {
	// ID is the JSON text of the request's id, or "". It names files, and the script gets it.
	ID        string
	Name      string
	Arguments json.RawMessage      // compact object, or nil
	Meta      json.RawMessage      // compact object, or nil
	Trace     tracecontext.Context // of the transport; Meta has precedence
	// Timeout overrides the tool's timeout, in seconds, unless it is 0.
	Timeout       int
	ProgressToken json.RawMessage // nil if absent
	Roots         roots.Scope
	Client        mcp.Capabilities
	// AnyStructured permits structured content that is not an object.
	AnyStructured bool
	// Links permits links to resources in the result.
	Links bool
	// Live forwards progress and logs while the script runs, independent of the settings.
	Live bool
	// RequireCapabilities refuses tools that require capabilities which the client lacks.
	RequireCapabilities bool

	Grew     func(bytes int)  // called when the output needs more memory; may be nil
	Event    *events.Event    // its Draft is filled; may be nil
	Started  func()           // is called while the script runs; may be nil
	Observer sandbox.Observer // observes the script; may be nil
	Listener Listener         // may be nil
	Asker    mcp.Asker        // nil if the client cannot be asked
	Slot     script.Slot      // is entered before a script starts; may be nil
}

// A Listener receives the reports of a running script, in order, on the goroutine of the call.
type Listener interface {
	// Ready reports whether the listener accepts reports. Until it does, reports stay in their files and no time limit
	// runs.
	Ready() bool
	Progress(p Progress)
	Log(m LogMessage)
	// Keep receives the reports of a script that ended without a listener.
	Keep(r Reports)
}

// Progress is a valid progress report of a script. The listener decides whether the client gets it.
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

// Reports are the reports of a script that ended without a listener.
type Reports struct {
	Progress []Progress
	Logs     []LogMessage
	Size     int // in bytes
}

// Deliver passes the reports to a listener.
func (r *Reports) Deliver(l Listener) {
	for _, p := range r.Progress {
		l.Progress(p)
	}
	for _, m := range r.Logs {
		l.Log(m)
	}
}

// maxCollected limits the stored reports of one script, in bytes.
const maxCollected = 256 << 10

type collector struct {
	Reports
	full bool // some reports are dropped
}

// Ready implements [Listener].
func (*collector) Ready() bool { return true }

// Progress implements [Listener].
func (k *collector) Progress(p Progress) {
	if k.room(len(p.Value) + len(p.Total) + len(p.Message)) {
		k.Reports.Progress = append(k.Reports.Progress,
			Progress{bytes.Clone(p.Value), bytes.Clone(p.Total), bytes.Clone(p.Message)})
	}
}

// Log implements [Listener].
func (k *collector) Log(m LogMessage) {
	if k.room(len(m.Logger) + len(m.Data)) {
		k.Logs = append(k.Logs, LogMessage{m.Level, bytes.Clone(m.Logger), bytes.Clone(m.Data)})
	}
}

// Keep implements [Listener].
func (*collector) Keep(Reports) {}

func (k *collector) room(bytes int) bool {
	const perReport = 128 // approximate overhead in bytes
	if k.Size+bytes+perReport > maxCollected {
		k.full = true
		return false
	}
	k.Size += bytes + perReport
	return true
}

// parseProgress parses a line of the progress stream. ok is false for other lines than progress notifications.
func parseProgress(line []byte) (p Progress, ok bool) {
	params, ok := notification(line, "notifications/progress")
	if !ok {
		return p, false
	}
	rawjson.Each(params, func(name, value json.RawMessage) {
		switch string(name) {
		case `"progress"`:
			p.Value = value
		case `"total"`:
			p.Total = value
		case `"message"`:
			p.Message = value
		}
	})
	if rawjson.KindOf(p.Value) != rawjson.Number {
		return p, false
	}
	if rawjson.KindOf(p.Total) != rawjson.Number {
		p.Total = nil
	}
	if rawjson.KindOf(p.Message) != rawjson.String {
		p.Message = nil
	}
	return p, true
}

func parseLog(line []byte) (m LogMessage, ok bool) {
	params, ok := notification(line, "notifications/message")
	if !ok {
		return m, false
	}
	m.Level = mcp.Info
	rawjson.Each(params, func(name, value json.RawMessage) {
		switch string(name) {
		case `"level"`:
			text, _ := rawjson.Text(value)
			m.Level, _ = mcp.ParseLevel(text)
		case `"logger"`:
			m.Logger = nil
			if rawjson.KindOf(value) == rawjson.String {
				m.Logger = value
			}
		case `"data"`:
			m.Data = rawjson.Normal(value)
		}
	})
	if m.Data == nil {
		m.Data = json.RawMessage("null")
	}
	return m, true
}

func notification(line []byte, method string) (params json.RawMessage, ok bool) {
	v, err := rawjson.Check(line)
	if err != nil || rawjson.KindOf(v) != rawjson.Object || rawjson.Get(v, "id") != nil ||
		rawjson.TextOf(v, "method") != method {
		return nil, false
	}
	params = rawjson.Get(v, "params")
	return params, rawjson.KindOf(params) == rawjson.Object
}
