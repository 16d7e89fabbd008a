package server

import (
	"fmt"
	"io"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// Loggers of the server itself (P-1305).
const (
	logCore      = "mcp.core"
	logLifecycle = "mcp.lifecycle"
	logRPC       = "mcp.rpc"
	logAuth      = "mcp.auth"
)

// log sends a message to the client, at or above the level in force; before
// the handshake there is no client to send to, and it goes to standard error
// (P-1303, P-1304).
func (s *Server) log(level mcp.Level, logger, message string) {
	if level < s.session.threshold() {
		return
	}
	if s.project.Logging.Timestamp {
		message = time.Now().UTC().Format("[2006-01-02T15:04:05Z] ") + message
	}
	if !s.session.greeted.Load() {
		s.notice("mcp-bash: %s: %s: %s", level, logger, message)
		return
	}
	if s.writer.Full() {
		s.dropped.Add(1)
		return
	}
	var b rawjson.Builder
	b.Object().Name("level").String(level.String()).Name("logger").String(logger).Name("data").String(message)
	s.send(jsonrpc.AppendNotification(nil, "notifications/message", b.End().Bytes()))
}

// tellDropped tells the client what it missed, once it reads again (P-1805).
func (s *Server) tellDropped() {
	if s.dropped.Load() == 0 || s.writer.Full() {
		return
	}
	s.log(mcp.Warning, logCore, fmt.Sprintf("%d log and progress messages were dropped because the client did not read", s.dropped.Swap(0)))
}

// debugging reports whether debug messages go anywhere, so that none is made
// for nothing.
func (s *Server) debugging() bool { return s.session.threshold() <= mcp.Debug }

func (s *Server) debugf(logger, format string, args ...any) {
	if s.debugging() {
		s.log(mcp.Debug, logger, fmt.Sprintf(format, args...))
	}
}

// notice writes a line to standard error unless the user wants quiet (P-1306).
func (s *Server) notice(format string, args ...any) {
	if !s.project.Logging.Quiet {
		s.complain(format, args...)
	}
}

// complain writes a line to standard error whatever the user wants: for errors
// that end the process. Whatever others have put into it, it stays one line, and
// does nothing to a terminal (P-1308).
func (s *Server) complain(format string, args ...any) {
	io.WriteString(s.stderr, cli.Line(fmt.Sprintf(format, args...))+"\n")
}
