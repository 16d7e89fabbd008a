// Package events defines the record of a server. An [Event] is a request with its outcome, or something that the server
// did itself, such as its start. It becomes one line of JSON.
//
// A package that decides something makes an Event and gives it to a stream (package stream), which writes it before the
// client gets the answer. Package trail reads the lines again. The line has the members that ToolHive's audit log has,
// so that its readers understand it. Everything else is in its members "data" and "metadata.extra", and in "chain".
package events

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/tracecontext"
)

// A Type is the kind of an event.
type Type string

// The types. ToolHive has those that begin with mcp_, and http_request.
const (
	ToolCall     Type = "mcp_tool_call"
	ResourceRead Type = "mcp_resource_read"
	PromptGet    Type = "mcp_prompt_get"
	Completion   Type = "mcp_completion"
	HTTPRequest  Type = "http_request" // a request that was refused before the protocol read it
	Initialize   Type = "mcp_initialize"
	SessionEnd   Type = "mcpbash_session_end" // of a session that an Initialize began
	Start        Type = "mcpbash_start"
	Stop         Type = "mcpbash_stop"
	Reload       Type = "mcpbash_reload"        // the list of items of a kind changed, or cannot be read
	TokenChanged Type = "mcpbash_token_changed" // the tokens of a file changed, or cannot be read
	KeyChanged   Type = "mcpbash_key_changed"   // the same for certificates, or keys of an OpenID provider
	Seal         Type = "mcpbash_seal"          // nothing happened, or the file ends: see package stream
	Recovered    Type = "mcpbash_recovered"     // the end of a torn line was removed
	Missed       Type = "mcpbash_missed"        // events that could not be written
)

// Types returns all types.
func Types() []Type {
	return []Type{
		ToolCall, ResourceRead, PromptGet, Completion, HTTPRequest, Initialize, SessionEnd, Start, Stop, Seal, Recovered,
		Missed, Reload, TokenChanged, KeyChanged,
	}
}

// The notes of seals.
const (
	NoteStart = "start" // the first seal of a process
	NoteStop  = "stop"  // the last one
)

// TypeOf returns the type of a method's events, or "" for a method that leaves none.
func TypeOf(method string) Type {
	switch method {
	case "initialize":
		return Initialize
	case "tools/call":
		return ToolCall
	case "resources/read":
		return ResourceRead
	case "prompts/get":
		return PromptGet
	case "completion/complete":
		return Completion
	}
	return ""
}

// NewID returns a new ID of an [Event]. It has the form of the id of a trace. It is random, but no secret.
func NewID() string { return tracecontext.NewTrace() }

// An Outcome is the result of a request, as a word.
type Outcome string

// The outcomes, in the words of ToolHive's audit log.
const (
	Success          Outcome = "success"
	Denied           Outcome = "denied"            // the caller may not do that
	Failure          Outcome = "failure"           // the request was wrong, or cancelled
	Error            Outcome = "error"             // the server failed
	ApplicationError Outcome = "application_error" // the tool failed
)

// An Event is a request, or something that the server did itself. Zero values are left out of its line.
type Event struct {
	Type      Type
	Cause     mcp.Cause // precisely why the request failed
	Began     time.Time
	ID        string // of the request in records, logs and answers: 32 hexadecimal digits
	Component string // name of the server

	Source  Source
	Subject Subject
	Target  Target
	Work    Work
	// Draft belongs to the goroutine of the call. It becomes the Work when the call is answered.
	Draft Work
	Trace Trace

	Interim bool // the answer asks the client for input or describes a task, and the call goes on
	Replica string
	Change  Change
	Count   int    // of Missed: events; of Recovered: bytes; of a Watch: entries
	Note    string // of Start and Stop; of a Watch: why nothing could be read

	Prepared []byte     // parts of the line, see Prepare
	ends     [parts]int // of the parts
}

// Outcome returns the outcome, which follows from the cause.
func (e *Event) Outcome() Outcome {
	switch e.Cause {
	case mcp.CauseNone:
		return Success
	case mcp.CauseCredential, mcp.CauseNotListed, mcp.CausePolicy, mcp.CauseScope, mcp.CauseLevel, mcp.CauseInsecure,
		mcp.CauseOrigin, mcp.CauseConfined, mcp.CauseLocked:
		return Denied
	case mcp.CauseInternal, mcp.CauseRecord, mcp.CauseStart:
		return Error
	case mcp.CauseTool, mcp.CauseStatus, mcp.CauseSignal, mcp.CauseSchema, mcp.CauseTime, mcp.CauseOutput,
		mcp.CauseAnswer:
		return ApplicationError
	}
	return Failure
}

// Caller returns the name of the user or program that sent a request, or "".
func (e *Event) Caller() string {
	return cmp.Or(e.Subject.User, e.Subject.Token, e.Subject.Client)
}

// Again returns an event for another attempt of the same request, which begins now.
func (e *Event) Again() *Event {
	if e == nil {
		return nil
	}
	return &Event{
		Type: e.Type, Began: time.Now(), ID: e.ID, Source: e.Source, Subject: e.Subject, Target: e.Target, Trace: e.Trace,
	}
}

// A Source describes the connection of a request.
type Source struct {
	Transport string // "stdio" or "http"
	Address   string // of the client, or ""
	Agent     string // the User-Agent
	Session   string // a digest of the session id
	Revision  string // of the protocol
	RequestID []byte // JSON of the id that the client chose
}

// A Subject describes the sender of a request. Texts are not verified, except those of a credential: User, UserID,
// Scopes and Token.
type Subject struct {
	User, UserID string // of an access token or a certificate
	Issuer       string // the OpenID provider
	Token        string // name of the token or certificate
	Scopes       []string
	Client       string // clientInfo
	Version      string
}

// A Target is the method of a request, and the item that it names.
type Target struct {
	Method string
	Kind   string // "": it follows from the method
	Name   string // of a tool, prompt or resource, or the URI of a resource
	IsURI  bool   // Name is a URI
}

// A Work describes the work for a request.
type Work struct {
	Cause             mcp.Cause       // why the tool's result is an error
	Took, Queued, Ran time.Duration   // from the arrival to the answer; waiting for a slot; the script
	Arguments         json.RawMessage // as the client sent them; nil: none
	Digest            Hash            // of the arguments; zero: none
	Schema            json.RawMessage // of the arguments of a tool; nil: not known, so the arguments can have any secret
	Processor         time.Duration   // processor time of the script
	Peak              int64           // memory of its largest process, in bytes; 0: not known
	Ended             bool            // a script ran to its end, so Status and Signal are known
	Status, Signal    int
	Code              int      // of a JSON-RPC error
	Bytes             int      // of the answer
	Script, Metadata  Hash     // of the tool's file and of its entry in the registry; zero: not known
	Refused           string   // the file, program or address that the confinement refused, as the script named it
	Answers           []Answer // of the client to questions
	// Trace and Span are the trace context of a script. A script that asked its client has the context of the first
	// request.
	Trace, Span string
}

// An Answer is the result of a question to the client.
type Answer struct {
	Method string
	Result json.RawMessage
	Schema json.RawMessage // of the content of the result, or nil
}

// Limits of the answers of one call that are kept for its line.
const (
	maxAnswers     = 16
	maxAnswerBytes = 8 << 10 // of all results
)

// Answer adds the answer to a question with params. It keeps only the action of a long answer, and drops answers above
// the limit.
func (w *Work) Answer(method string, params, result json.RawMessage) {
	if len(w.Answers) >= maxAnswers {
		return
	}
	size := len(result)
	for _, a := range w.Answers {
		size += len(a.Result)
	}
	if size > maxAnswerBytes {
		result = ActionOf(result)
	}
	w.Answers = append(w.Answers, Answer{method, bytes.Clone(result), rawjson.Get(params, "requestedSchema")})
}

// ActionOf returns an answer without its content.
func ActionOf(result json.RawMessage) json.RawMessage {
	action := rawjson.TextOf(result, "action")
	if action != "accept" && action != "decline" && action != "cancel" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(`{"action":"` + action + `"}`)
}

// A Trace is the W3C trace context of a request. It is zero if nothing is recorded.
type Trace struct {
	ID, Parent string // the trace, and the caller's span; without one, the trace has the ID of the request
	// Link and LinkSpan are the trace and span of the HTTP request, if it has another context than its message.
	Link, LinkSpan string
}

// A Sink takes events. Its methods are safe for concurrent use. A sink may keep nothing of an event after its return.
type Sink interface {
	// Emit takes an event. An error means that the event must be recorded and cannot be.
	Emit(e *Event) error
	// Ready returns the error that Emit would return now.
	Ready() error
}

// A Preparer is a [Sink] that can do a part of its work early.
type Preparer interface {
	// Prepare does a part of the work for a later Emit of the event, whose script runs now. It does not wait.
	Prepare(e *Event)
}

// Sinks gives each event to several sinks, in their order.
type Sinks []Sink

// Emit implements [Sink]. All sinks get the event. The error is the first one.
func (s Sinks) Emit(e *Event) (err error) {
	for _, sink := range s {
		if e := sink.Emit(e); err == nil {
			err = e
		}
	}
	return err
}

// Ready implements [Sink].
func (s Sinks) Ready() error {
	for _, sink := range s {
		if err := sink.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// A Change has the names of the entries that differ between a set and the set before.
type Change struct{ Added, Removed, Changed []string }

// compare returns the change between two sets, in the order of the names.
func compare(before, after map[string][sha256.Size]byte) (c Change) {
	for name, hash := range after {
		if old, known := before[name]; !known {
			c.Added = append(c.Added, name)
		} else if old != hash {
			c.Changed = append(c.Changed, name)
		}
	}
	for name := range before {
		if _, stays := after[name]; !stays {
			c.Removed = append(c.Removed, name)
		}
	}
	for _, list := range [...][]string{c.Added, c.Removed, c.Changed} {
		slices.Sort(list)
	}
	return c
}

// A Watch records changes of a set of named entries that the server reads repeatedly, such as the tokens of a file.
// The caller does not use it from several goroutines at once.
type Watch struct {
	Type   Type
	Target Target
	To     Sink

	known  map[string][sha256.Size]byte // of each entry; nil before the first reading
	failed bool                         // the last reading failed
}

// Set compares the result of a reading with the one before: a hash of each entry, or an error. The first set is not
// recorded. Of several errors in a row, only the first one is recorded.
func (w *Watch) Set(now map[string][sha256.Size]byte, err error) {
	e := Event{Type: w.Type, Target: w.Target}
	first := w.known == nil
	if err != nil {
		e.Cause, e.Note = mcp.CauseInternal, err.Error()
	} else {
		e.Change, e.Count, w.known = compare(w.known, now), len(now), now
	}
	c := &e.Change
	changed := !first && len(c.Added)+len(c.Removed)+len(c.Changed) > 0 || w.failed != (err != nil)
	w.failed = err != nil
	if changed {
		w.To.Emit(&e)
	}
}

// Ended returns the ended files of a record in order, from the entries of its folder, and the name for the next one.
// The record audit.jsonl has audit.jsonl.000001 and so on.
func Ended(record string, entries []fs.DirEntry) (files []string, next string) {
	numbered := func(n int) string { return fmt.Sprintf("%s.%06d", record, n) }
	var numbers []int
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), record+".")
		if n, err := strconv.Atoi(text); ok && err == nil && n > 0 && numbered(n) == e.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	last := 0
	for _, last = range numbers {
		files = append(files, numbered(last))
	}
	return files, numbered(last + 1)
}

// InFiles reports whether a value of MCPBASH_AUDIT names a file or a folder.
func InFiles(to string) bool {
	return to != "" && to != "off" && to != "stderr" && to != "journald" && !strings.HasPrefix(to, "unix:")
}
