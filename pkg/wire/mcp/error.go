package mcp

import (
	"encoding/json"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
)

// The error codes the server itself uses (protocol section 26). A tool or a
// policy may send any other integer (T-701).
const (
	CodeParse          = -32700 // a line that is not one JSON text
	CodeInvalidRequest = -32600 // not a request, or not at this moment
	CodeMethodNotFound = -32601 // unknown method, or unavailable in minimal mode
	CodeInvalidParams  = -32602 // bad parameters, unknown names, policy
	CodeInternal       = -32603 // everything that went wrong on our side
	CodeNotInitialized = -32000 // a request before the handshake
	CodeToolCancelled  = -32001 // a tool ended by a signal the server did not send
	CodeNotFound       = -32002 // no such resource
	CodeShuttingDown   = -32003 // a request after shutdown
	CodeExitTooEarly   = -32005 // exit without shutdown

	CodeMissingCapability  = -32021 // of the client, which the request needs (M-41)
	CodeUnsupportedVersion = -32022 // a revision that this server does not speak (M-11)
)

// An Error is what a client is told when a request fails. The packages of the
// kinds return it as their error; only the server turns it into a response.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: no data member
	// Own marks a code that means what the protocol says: a script may have chosen the same
	// number for something else.
	Own bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf makes an error without data.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithData returns the error with a string as its data.
func (e *Error) WithData(text string) *Error {
	e.Data = rawjson.Quote(text)
	return e
}

// WithReason returns the error with {"reason":…} as its data, for those who can do
// something about it.
func (e *Error) WithReason(reason error) *Error {
	var b rawjson.Builder
	e.Data = b.Object().Name("reason").String(reason.Error()).End().Bytes()
	return e
}

// AppendJSON appends the error object {"code":…,"message":…,"data":…}; data
// stands there only when it is neither empty nor null (T-702).
func (e *Error) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("code").Int(e.Code).Name("message").String(e.Message)
	if !rawjson.Absent(e.Data) {
		b.Name("data").Raw(e.Data)
	}
	return b.End().Bytes()
}
