package mcp

import (
	"context"
	"encoding/json"
	"time"
)

// Methods of requests that a server may send to a client on behalf of a script.
const (
	MethodElicit   = "elicitation/create"
	MethodSampling = "sampling/createMessage"
	MethodRoots    = "roots/list"
)

// An InputRequest asks the client for input while the server handles the client's request.
type InputRequest struct {
	Key    string // the script's name for it, or ""
	Method string
	Params json.RawMessage
}

// An InputResponse is the client's answer to an [InputRequest].
type InputResponse struct {
	Result json.RawMessage
	Error  *Error
}

// An Asker sends input requests to the client (T-120 to T-128), in the way of the protocol's
// revision.
type Asker interface {
	// Ready reports whether input requests can be sent now. They have to wait while the client
	// does not read. Ready and Ask do not block.
	Ready() bool
	// Patience is the minimum time that people have for an answer. If it is 0, the script
	// decides.
	Patience() time.Duration
	// Ask sends all input requests that the client has declared to support.
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

// IsInputKey reports whether a key is valid: [A-Za-z0-9_.-]{1,64} (M-57).
func IsInputKey(key string) bool {
	if len(key) == 0 || len(key) > maxInputKey {
		return false
	}
	for _, c := range []byte(key) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}
