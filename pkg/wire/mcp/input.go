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

// An InputRequest asks the client for something while a request of its own runs.
type InputRequest struct {
	Key    string // the script's name for it, "" when it gave none
	Method string
	Params json.RawMessage
}

// An InputResponse is what the client said to an [InputRequest].
type InputResponse struct {
	Result json.RawMessage
	Error  *Error
}

// An Asker puts input requests to the client (T-120 to T-128). How they get
// there is a matter of the protocol's era.
type Asker interface {
	// Ready reports whether input requests can be sent now: while the client reads
	// nothing, they wait. Neither method does.
	Ready() bool
	// Patience is how long people may take to answer at least, whatever scripts wait for; 0:
	// what the scripts say.
	Patience() time.Duration
	// Ask sends input requests, all at once. Only those that the client declared it
	// can answer are put to it.
	Ask(requests []InputRequest) PendingInput
}

// A PendingInput is a set of input requests that was sent.
type PendingInput interface {
	// Responses returns one response a request, in their order, once all are in.
	Responses() (list []InputResponse, done bool)
	// Wait is Responses for whoever has nothing else to do; the error is the
	// context's.
	Wait(ctx context.Context) ([]InputResponse, error)
	// Close withdraws what is not answered yet and returns what is; missing
	// responses have neither Result nor Error.
	Close() []InputResponse
}

// maxInputKey is the length of the longest key, in bytes.
const maxInputKey = 64

// IsInputKey reports whether a script may call an input request so: [A-Za-z0-9_.-]{1,64}
// (M-57).
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
