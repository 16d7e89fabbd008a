// Package mcp defines the terms of the Model Context Protocol: revisions, error codes, log
// levels and capabilities. It does not depend on transports or projects.
package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
)

// The error codes of the server (protocol section 26). A tool or a policy may send any other integer.
const (
	CodeParse          = -32700 // a line that is not one JSON text
	CodeInvalidRequest = -32600 // not a request, or not allowed at this moment
	CodeMethodNotFound = -32601 // unknown method, or unavailable in minimal mode
	CodeInvalidParams  = -32602 // bad parameters, unknown names, policy
	CodeInternal       = -32603 // an error of the server
	CodeNotInitialized = -32000 // a request before the handshake
	CodeToolCancelled  = -32001 // a signal ended the tool, and the server did not send it
	CodeNotFound       = -32002 // no such resource
	CodeShuttingDown   = -32003 // a request after shutdown
	CodeExitTooEarly   = -32005 // exit without shutdown

	CodeHeaderMismatch     = -32020 // a header of HTTP differs from the message
	CodeMissingCapability  = -32021 // the client lacks a capability that the request needs
	CodeUnsupportedVersion = -32022 // a revision that this server does not support
)

// An Error is the error of a response. The feature packages return it, and the server writes
// the response.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: no data member
	// Own means that the code has the protocol's meaning. A script may use the same number for another error.
	Own bool
	// Explained means that the message contains the reason, too.
	Explained bool
	// NeedsScope is the OAuth scope that the caller's token lacks, or "". Over HTTP, the answer asks for a token with
	// this scope.
	NeedsScope string
	Cause      Cause // if "", the code determines it; see [Error.Why]
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf returns an error without data.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because sets the cause and returns the error.
func (e *Error) Because(c Cause) *Error {
	e.Cause = c
	return e
}

// Why returns the cause of the error.
func (e *Error) Why() Cause {
	switch {
	case e.Cause != CauseNone:
		return e.Cause
	case e.NeedsScope != "":
		return CauseScope
	}
	switch e.Code {
	case CodeMethodNotFound, CodeNotFound:
		return CauseNotFound
	case CodeInternal:
		return CauseInternal
	case CodeToolCancelled:
		return CauseSignal
	case CodeShuttingDown:
		return CauseUnavailable
	case CodeMissingCapability:
		return CauseCapability
	case CodeParse, CodeInvalidRequest, CodeInvalidParams, CodeNotInitialized, CodeExitTooEarly, CodeHeaderMismatch,
		CodeUnsupportedVersion:
		return CauseInvalid
	}
	return CauseTool // tools choose their codes
}

// WithData sets the data to a string and returns the error.
func (e *Error) WithData(text string) *Error {
	e.Data = rawjson.Quote(text)
	return e
}

// WithReason sets the data to {"reason":…} and returns the error.
func (e *Error) WithReason(reason error) *Error {
	var b rawjson.Builder
	e.Data = b.Object().Name("reason").String(reason.Error()).End().Bytes()
	return e
}

// Explain sets the reason, and adds it to the message, because models and users see only
// messages. It returns the error.
func (e *Error) Explain(reason error) *Error {
	e.Message, e.Explained = e.Message+": "+reason.Error(), true
	return e.WithReason(reason)
}

// AppendJSON appends the error object {"code":…,"message":…,"data":…}. It leaves out data that is empty or null.
func (e *Error) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("code").Int(e.Code).Name("message").String(e.Message)
	if !rawjson.Absent(e.Data) {
		b.Name("data").Raw(e.Data)
	}
	return b.End().Bytes()
}

// A Cause is the precise reason why a request failed, for the operator's records. The list is closed: readers of
// records may rely on it.
type Cause string

// The causes.
const (
	CauseNone Cause = ""

	// The request was wrong.
	CauseInvalid     Cause = "invalid_request"   // wrong form or parameters
	CauseArguments   Cause = "invalid_arguments" // the arguments do not match the schema
	CauseNotFound    Cause = "not_found"         // no such method, tool, resource or prompt
	CauseCapability  Cause = "client_capability" // the client lacks a capability that the tool needs
	CauseCancelled   Cause = "cancelled"         // by the client, or the client is gone
	CauseUnavailable Cause = "shutting_down"     // the server ends

	// The caller has no permission.
	CauseCredential Cause = "credential"   // the credential is missing or not accepted
	CauseNotListed  Cause = "not_listed"   // the operator's list of tools lacks the tool; nothing else was checked
	CausePolicy     Cause = "policy"       // policy.sh, or a rule about files
	CauseScope      Cause = "scope"        // the caller's token lacks a scope or right
	CauseLevel      Cause = "level"        // the security level of the server
	CauseInsecure   Cause = "insecure"     // another user can change files that would run
	CauseOrigin     Cause = "origin"       // the Host or Origin of a web page
	CauseConfined   Cause = "unconfinable" // a declaration that the kernel cannot enforce
	CauseLocked     Cause = "locked"       // an item or file differs from the lock of the project

	// A limit was exceeded.
	CauseBusy   Cause = "busy"             // too many requests wait
	CauseRate   Cause = "rate"             // too many requests of one caller
	CauseAnswer Cause = "answer_too_large" // a result above the limit
	CauseOutput Cause = "output_too_large" // of a script
	CauseTime   Cause = "timeout"

	// The tool failed.
	CauseTool   Cause = "tool_error"    // the result or the error of the tool, or of another script
	CauseStatus Cause = "exit_status"   // a nonzero exit status
	CauseSignal Cause = "signal"        // a signal ended the tool
	CauseSchema Cause = "output_schema" // the result does not match the outputSchema
	CauseStart  Cause = "start"         // the tool could not be started

	// The server failed.
	CauseInternal Cause = "internal"
	CauseRecord   Cause = "record" // the event could not be recorded, and records are required
)

// Causes returns all causes but CauseNone.
func Causes() []Cause { return causes[:] }

var causes = [...]Cause{
	CauseInvalid, CauseArguments, CauseNotFound, CauseCapability, CauseCancelled,
	CauseUnavailable, CauseCredential, CauseNotListed, CausePolicy, CauseScope, CauseLevel, CauseInsecure,
	CauseOrigin, CauseConfined, CauseLocked, CauseBusy, CauseRate, CauseAnswer, CauseOutput, CauseTime, CauseTool,
	CauseStatus, CauseSignal, CauseSchema, CauseStart, CauseInternal, CauseRecord,
}

// A Level is the severity of a log message. A higher level is more severe.
type Level int8

// The eight levels of RFC 5424 that the protocol uses.
const (
	Debug Level = iota
	Info
	Notice
	Warning
	Err
	Critical
	Alert
	Emergency
)

var levelNames = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// String returns the name of the level in the protocol.
func (l Level) String() string { return levelNames[l] }

// ParseLevel parses one of the eight names, in any case.
func ParseLevel(name string) (l Level, ok bool) {
	for i, n := range levelNames {
		if ascii.EqualFold(n, name) {
			return Level(i), true
		}
	}
	return Info, false
}

// ParseLevelSetting parses a level of the environment: a name in any case, or true or 1 for debug. Everything else is
// info.
func ParseLevelSetting(value string) Level {
	switch ascii.Lower(value) {
	case "true", "1":
		return Debug
	}
	l, _ := ParseLevel(value)
	return l
}

// A LogFunc logs a message of the server. The log is sent to the client, or to standard error in
// a command. logger is one of the names of P-1305.
type LogFunc func(level Level, logger, message string)

// The limits of [Sparse].
const (
	sparsePause = time.Minute
	sparseMost  = 256 // messages in a pause
)

// Sparse returns a LogFunc for faults that clients can cause again and again. It drops a message that it logged in the
// last minute. After 256 different messages in a minute, it drops all others.
func Sparse(log LogFunc) LogFunc { return sparse(log, clock.Now) }

func sparse(log LogFunc, now func() time.Duration) LogFunc {
	var mu sync.Mutex
	passed := map[string]time.Duration{}
	return func(level Level, logger, message string) {
		mu.Lock()
		at := now()
		maps.DeleteFunc(passed, func(_ string, then time.Duration) bool { return at-then >= sparsePause })
		_, again := passed[message]
		drop := again || len(passed) == sparseMost
		if !drop {
			passed[message] = at
		}
		mu.Unlock()
		if !drop {
			log(level, logger, message)
		}
	}
}
