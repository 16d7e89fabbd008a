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

// A Question is a request to the client.
type Question struct {
	Key    string // the script's name for it, "" when it gave none
	Method string
	Params json.RawMessage
}

// An Answer is what the client said to a question.
type Answer struct {
	Result json.RawMessage
	Error  *Error
}

// An Asker puts questions to the client (T-120 to T-128). How they get
// there is a matter of the protocol's era.
type Asker interface {
	// Ready reports whether questions can be put now: while the client reads
	// nothing, they wait. Neither method does.
	Ready() bool
	// Ask sends questions, all at once. Only those that the client declared it
	// can answer are put to it.
	Ask(questions []Question) Inquiry
}

// An Inquiry is a set of questions that was sent.
type Inquiry interface {
	// Answers returns one answer a question, in their order, once all are in.
	Answers() (list []Answer, done bool)
	// Wait is Answers for whoever has nothing else to do; the error is the
	// context's.
	Wait(ctx context.Context) ([]Answer, error)
	// Close withdraws what is not answered yet and returns what is; missing
	// answers have neither Result nor Error.
	Close() []Answer
}
