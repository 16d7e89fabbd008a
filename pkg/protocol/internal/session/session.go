// Package session is the state of one client: its place in the life of a session, its output,
// and its log level.
package session

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
)

// A Phase is a part of a session's life (protocol section 7).
type Phase int32

// The phases, in their order.
const (
	New          Phase = iota
	Initializing       // initialize was answered
	Ready              // notifications/initialized was received
	Closing            // shutdown was received
	Ended              // no more messages are read
)

// Loggers of the server itself.
const (
	LogCore      = "mcp.core"
	LogLifecycle = "mcp.lifecycle"
	LogRPC       = "mcp.rpc"
	LogAuth      = "mcp.auth"
	LogPages     = "mcp.ui"
)

// A Session is one client. Only the goroutine that accepts messages changes the state that the
// handshake settles, and all goroutines can read it.
type Session struct {
	Revision     atomic.Pointer[revision.Revision]
	Capabilities atomic.Pointer[mcp.Capabilities]
	Level        atomic.Int32 // of log messages, mcp.Level
	Greeted      atomic.Bool  // the result of initialize was sent

	Sink    // for messages that belong to no request
	console *console.Console
	record  *console.Record
	phase   atomic.Int32
	missed  atomic.Int64           // messages that the client did not get because it does not read
	scratch atomic.Pointer[[]byte] // for small answers
}

// NewSession returns the session of a new client. Messages that belong to no request go to out.
func NewSession(out Sink, c *console.Console, record *console.Record) *Session {
	s := &Session{Sink: out, console: c, record: record}
	s.Level.Store(int32(c.Settings.Level))
	s.Revision.Store(revision.Latest) // before initialize
	s.Capabilities.Store(&mcp.Capabilities{})
	return s
}

// At reports whether the session is in a phase.
func (s *Session) At(p Phase) bool { return Phase(s.phase.Load()) == p }

// Enter begins a phase.
func (s *Session) Enter(p Phase) { s.phase.Store(int32(p)) }

// Threshold returns the minimum level of log messages for the client.
func (s *Session) Threshold() mcp.Level { return mcp.Level(s.Level.Load()) }

// QueueNotification queues a notification that belongs to no request. The caller calls
// [Session.Push] afterwards.
func (s *Session) QueueNotification(method string, params []byte) {
	line := jsonrpc.AppendNotification(nil, method, params)
	s.record.Add("rpc", "-", "ok", line)
	s.Queue(line)
}

// Notify sends a notification that belongs to no request.
func (s *Session) Notify(method string, params []byte) {
	s.QueueNotification(method, params)
	s.Push()
}

// Record adds a row to the record of a debug run.
func (s *Session) Record(category, key, status string, payload []byte) {
	s.record.Add(category, key, status, payload)
}

// Missed counts a message that the client does not get because it does not read.
func (s *Session) Missed() { s.missed.Add(1) }

// Log sends a log message, if its level is high enough. Before initialize there is no client to send it to, and it goes
// to standard error.
func (s *Session) Log(level mcp.Level, logger, message string) {
	if level < s.Threshold() {
		return
	}
	message = s.console.Redactor.Text(message) // scripts, URIs and errors can contain anything
	if s.console.Settings.Timestamp {
		message = time.Now().UTC().Format("[2006-01-02T15:04:05Z] ") + message
	}
	if !s.Greeted.Load() {
		if !s.console.Settings.Quiet {
			s.console.Log(level, logger, message)
		}
		return
	}
	if s.Full() {
		s.Missed()
		return
	}
	var b rawjson.Builder
	b.Object().Name("level").String(level.String()).Name("logger").String(logger).Name("data").String(message)
	s.Notify("notifications/message", b.End().Bytes())
}

// ReportMissed logs how many messages the client has missed, once it reads again.
func (s *Session) ReportMissed() {
	if s.missed.Load() == 0 || s.Full() {
		return
	}
	s.Log(mcp.Warning, LogCore, fmt.Sprintf("%d log and progress messages were dropped because the client did not read",
		s.missed.Swap(0)))
}

// Debugging reports whether debug messages are sent. Callers check it before they format one.
func (s *Session) Debugging() bool { return s.Threshold() <= mcp.Debug }

// Debugf logs a message of level debug.
func (s *Session) Debugf(logger, format string, args ...any) {
	if s.Debugging() {
		s.Log(mcp.Debug, logger, fmt.Sprintf(format, args...))
	}
}

// Reply queues the result of a message. The transport writes the line once it has accepted the
// message.
func (s *Session) Reply(out Sink, id jsonrpc.ID, result func(dst []byte) []byte) {
	s.answer(out, nil, func(dst []byte) []byte { return jsonrpc.AppendResult(dst, id, result) })
}

// Refuse is [Session.Reply] with an error.
func (s *Session) Refuse(out Sink, id jsonrpc.ID, e *mcp.Error) {
	s.answer(out, e, func(dst []byte) []byte { return jsonrpc.AppendError(dst, id, e.AppendJSON) })
}

func (s *Session) answer(out Sink, e *mcp.Error, appendLine func(dst []byte) []byte) {
	scratch := s.scratch.Swap(nil)
	if scratch == nil {
		scratch = new([]byte)
	}
	line, status := appendLine((*scratch)[:0]), "ok"
	if e != nil {
		status = "error"
	}
	s.record.Add("rpc", "-", status, line)
	out.Last(line, e)
	if cap(line) <= 16<<10 { // the sink may keep a larger buffer
		*scratch = line
		s.scratch.Store(scratch)
	}
}

// A Sink takes the lines that a message causes, and delivers them to the client in their order.
// A line ends with a line feed. All methods are safe for concurrent use. Over standard output,
// all messages of a client have the same Sink.
type Sink interface {
	// Queue adds a line without writing it. The caller calls Push or Deliver afterwards.
	Queue(line []byte)
	// Last queues the answer of a request, which is the last line for the request. err is the error in the answer, or
	// nil. line is nil if the request ends without an answer. Each accepted request ends with one call of Last.
	Last(line []byte, err *mcp.Error)
	// Push writes the queued lines, and never waits until the client reads.
	Push()
	// Deliver writes the queued lines, and can wait until the client reads.
	Deliver()
	// Full reports whether the client leaves too much unread.
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
