package session

import (
	"context"
	"time"

	"mcp-bash/pkg/wire/mcp"
)

// A Sink takes the lines that a message causes, and delivers them to the client in their order.
// A line ends with a line feed. All methods are safe for concurrent use. Over standard output,
// all messages of a client have the same Sink.
type Sink interface {
	// Queue adds a line without writing it. The caller calls Push or Deliver afterwards.
	Queue(line []byte)
	// Last is Queue for the answer of a request, the last line for it. err is the error in the
	// answer, or nil. line is nil if the request ends without an answer. Each accepted request
	// ends with one call of Last.
	Last(line []byte, err *mcp.Error)
	// Push writes the queued lines, and never waits until the client reads.
	Push()
	// Deliver writes the queued lines, and can wait until the client reads.
	Deliver()
	// Full reports whether the client leaves too much unread (P-1803).
	Full() bool
	// Reserve waits until the Sink is not full, or ctx ends. It then counts size bytes as unread
	// until Release.
	Reserve(ctx context.Context, size int)
	Release(size int)
}

// An Ending is the end of a client's connection, and its reason (protocol section 9).
type Ending struct {
	Code   int           // the exit code, where the connection ends the process
	Reason string        // a line for standard error, or ""
	Kill   bool          // end running requests instead of waiting for them
	Silent bool          // send nothing more
	Within time.Duration // kill running requests after this time; 0: no limit
}
