package stream

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/files/fsys"
)

// A receiver is the socket of another program that takes lines. The program can read slowly, end and come back. A write
// that fails waits for patience at most. Then all fail at once until the next attempt, which hardly waits.
type receiver struct {
	endless
	network, path string
	journal       bool // lines are datagrams in the form of journald
	datagram      []byte
	conn          *net.UnixConn
	last, rest    []byte    // a line that was written in part, and what is left of it
	err           error     // of the last attempt
	again         time.Time // the next attempt
}

const (
	patience      = 500 * time.Millisecond
	glance        = 10 * time.Millisecond // of the attempts that follow
	pause         = time.Second           // between attempts
	journalSocket = "/run/systemd/journal/socket"
)

var errSlow = errors.New("the program that reads it is too slow, or has stopped")

func (r *receiver) write(e *events.Event, line []byte) error {
	if time.Now().Before(r.again) {
		return r.err
	}
	if r.journal {
		r.datagram = appendEntry(r.datagram[:0], e, line)
		line = r.datagram
	}
	if r.err = r.try(line); r.err != nil {
		r.again = time.Now().Add(pause)
	}
	if cap(r.datagram) > maxKept {
		r.datagram = nil
	}
	return r.err
}

// try writes a line to the connection, or to a new one if the receiver has closed it.
func (r *receiver) try(line []byte) error {
	if r.conn != nil {
		err := r.send(line)
		if err == nil || err == errSlow {
			return err
		}
		r.close()
	}
	r.err = nil
	conn, err := net.Dial(r.network, r.path) // never waits
	if err != nil {
		return fsys.Cause(err)
	}
	r.conn, r.rest = conn.(*net.UnixConn), r.last
	return fsys.Cause(r.send(line))
}

func (r *receiver) send(line []byte) error {
	within := patience
	if r.err == errSlow {
		within = glance
	}
	r.conn.SetWriteDeadline(time.Now().Add(within))
	var n int
	var err error
	if len(r.rest) > 0 {
		n, err = r.conn.Write(r.rest)
		r.rest, n = r.rest[n:], 0 // n is of line
	}
	if err == nil {
		r.last = nil
		n, err = r.conn.Write(line)
	}
	switch slow := errors.Is(err, os.ErrDeadlineExceeded); {
	case slow && n > 0: // the line counts as written: its rest comes before the next one
		r.last = bytes.Clone(line)
		r.rest = r.last[n:]
		return nil
	case slow:
		return errSlow
	case errors.Is(err, syscall.EMSGSIZE):
		return sendFile(r.conn, line)
	}
	return err
}

func (r *receiver) close() error {
	if r.conn == nil {
		return nil
	}
	err := r.conn.Close()
	r.conn = nil
	return err
}

// appendEntry appends a line with its fields as journald's native protocol wants them.
func appendEntry(dst []byte, e *events.Event, line []byte) []byte {
	priority := 5
	switch e.Outcome() {
	case events.Success:
		priority = 6
	case events.Error:
		priority = 3
	}
	return fmt.Appendf(dst, "SYSLOG_IDENTIFIER=mcp-bash-audit\nPRIORITY=%d\nMCPBASH_AUDIT_TYPE=%s\n"+
		"MCPBASH_AUDIT_OUTCOME=%s\nMCPBASH_AUDIT_ID=%s\nMESSAGE=%s", priority, e.Type, e.Outcome(), e.ID, line)
}
