package mcp

import (
	"encoding/json"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
)

// The error codes of the server (protocol section 26). A tool or a policy may send any other
// integer (T-701).
const (
	CodeParse          = -32700 // a line that is not one JSON text
	CodeInvalidRequest = -32600 // not a request, or not at this moment
	CodeMethodNotFound = -32601 // unknown method, or unavailable in minimal mode
	CodeInvalidParams  = -32602 // bad parameters, unknown names, policy
	CodeInternal       = -32603 // an error of the server
	CodeNotInitialized = -32000 // a request before the handshake
	CodeToolCancelled  = -32001 // a signal that the server did not send ended the tool
	CodeNotFound       = -32002 // no such resource
	CodeShuttingDown   = -32003 // a request after shutdown
	CodeExitTooEarly   = -32005 // exit without shutdown

	CodeHeaderMismatch     = -32020 // a header of HTTP differs from the message (H-20)
	CodeMissingCapability  = -32021 // the client lacks a capability that the request needs (M-41)
	CodeUnsupportedVersion = -32022 // a revision that this server does not support (M-11)
)

// An Error is the error of a response. The feature packages return it, and the server writes
// the response.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: no data member
	// Own means that the code has the meaning of the protocol. A script may use the same number
	// for something else.
	Own bool
	// Explained means that the message contains the reason of the data.
	Explained bool
	// NeedsScope is the OAuth scope that the caller's token lacks, or "". Over HTTP, the answer asks
	// for a token with it.
	NeedsScope string
	Cause      Cause // "": that of the code, see [Error.Why]
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
	return CauseTool // a tool chooses its codes itself
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

// AppendJSON appends the error object {"code":…,"message":…,"data":…}. It leaves out data that
// is empty or null (T-702).
func (e *Error) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("code").Int(e.Code).Name("message").String(e.Message)
	if !rawjson.Absent(e.Data) {
		b.Name("data").Raw(e.Data)
	}
	return b.End().Bytes()
}
