package protocol

import (
	"sync/atomic"

	"mcp-bash/pkg/protocol/internal/session"
)

// A Sink takes the lines that a message causes, and delivers them to the client.
type Sink = session.Sink

// An Ending is the end of a client's connection, and its reason.
type Ending = session.Ending

// A Connection is what a client needs of its transport. Its Sink is for messages that belong to no
// request. All methods are safe for concurrent use.
type Connection interface {
	Sink
	// AwaitRoom waits until the client's messages may be accepted. It is called between the
	// elements of a batch.
	AwaitRoom()
	// End ends the connection. Only the first call has an effect.
	End(Ending)
}

// A Task is an accepted request, which a transport runs.
type Task interface {
	// Run answers the request, and then requests that waited for its slot. A request of a shared
	// server first waits for a slot, and runs no other request.
	Run()
	// Lingers reports whether Run can return long after the answer.
	Lingers() bool
	// Slow is true if requests of this method usually take long. The transport measures it.
	Slow() *atomic.Bool
}
