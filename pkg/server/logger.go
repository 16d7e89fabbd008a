package server

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// Loggers of the server itself (P-1305).
const (
	logCore      = "mcp.core"
	logLifecycle = "mcp.lifecycle"
	logRPC       = "mcp.rpc"
	logAuth      = "mcp.auth"
)

// A logger says things to the client and on standard error.
type logger struct {
	settings *project.Logging
	session  *session
	client   *client
	stderr   io.Writer
	redactor secrets.Redactor
}

// log sends a message to the client, at or above the level in force; before
// initialize there is no client to send to, and it goes to standard error
// (P-1303, P-1304).
func (l *logger) log(level mcp.Level, logger, message string) {
	if level < l.session.threshold() {
		return
	}
	message = l.redactor.Text(message) // scripts, URIs and errors put in what they like
	if l.settings.Timestamp {
		message = time.Now().UTC().Format("[2006-01-02T15:04:05Z] ") + message
	}
	if !l.session.greeted.Load() {
		if !l.settings.Quiet {
			l.print(fmt.Sprintf("mcp-bash: %s: %s: %s", level, logger, message))
		}
		return
	}
	if l.client.full() {
		l.client.missed.Add(1)
		return
	}
	var b rawjson.Builder
	b.Object().Name("level").String(level.String()).Name("logger").String(logger).Name("data").String(message)
	l.client.notify("notifications/message", b.End().Bytes())
}

// tellMissed tells the client what it missed, once it reads again (P-1805).
func (l *logger) tellMissed() {
	if l.client.missed.Load() == 0 || l.client.full() {
		return
	}
	l.log(mcp.Warning, logCore, fmt.Sprintf("%d log and progress messages were dropped because the client did not read",
		l.client.missed.Swap(0)))
}

// debugging reports whether debug messages go anywhere, so that none is made
// for nothing.
func (l *logger) debugging() bool { return l.session.threshold() <= mcp.Debug }

func (l *logger) debugf(logger, format string, args ...any) {
	if l.debugging() {
		l.log(mcp.Debug, logger, fmt.Sprintf(format, args...))
	}
}

// notice writes a line to standard error unless the user wants quiet (P-1306).
func (l *logger) notice(format string, args ...any) {
	if !l.settings.Quiet {
		l.complain(format, args...)
	}
}

// complain writes a line to standard error whatever the user wants: for errors
// that end the process. Whatever others have put into it, it stays one line, does
// nothing to a terminal and holds no secret (P-1308, P-2502).
func (l *logger) complain(format string, args ...any) {
	l.print(l.redactor.Text(fmt.Sprintf(format, args...)))
}

func (l *logger) print(line string) { cli.Printf(l.stderr, "%s\n", line) }

// libraryLog takes what the libraries we use say by Go's package log: net/http
// does, of answers that come too late.
type libraryLog struct{ *logger }

func (l libraryLog) Write(p []byte) (int, error) {
	l.notice("mcp-bash: %s", bytes.TrimSpace(p))
	return len(p), nil
}

// takeLibraryLog lasts until giveLibraryLog.
func (l *logger) takeLibraryLog() {
	log.SetFlags(0)
	log.SetOutput(libraryLog{l})
}

func giveLibraryLog() {
	log.SetFlags(log.LstdFlags)
	log.SetOutput(os.Stderr)
}
