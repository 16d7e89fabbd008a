package mcp

import (
	"context"
	"encoding/json"
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
