package stream

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/files/fsys"
)

// A receiver is the socket of another program that takes lines. The program can read slowly, end and come back. A write
// fails after patience. Then all fail at once until the next attempt.
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

// Every failure costs the calls at that time at most patience, and there is at most one for each pause.
const (
	patience = 50 * time.Millisecond
	pause    = time.Second
)

// journalSocket is where journald reads.
const journalSocket = "/run/systemd/journal/socket"

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
	conn, err := net.DialTimeout(r.network, r.path, patience)
	if err != nil {
		return fsys.Cause(err)
	}
	r.conn, r.rest = conn.(*net.UnixConn), r.last
	return fsys.Cause(r.send(line))
}

func (r *receiver) send(line []byte) error {
	r.conn.SetWriteDeadline(time.Now().Add(patience))
	if len(r.rest) > 0 {
		n, err := r.conn.Write(r.rest)
		if r.rest = r.rest[n:]; err != nil {
			return slow(err)
		}
		r.last = nil
	}
	n, err := r.conn.Write(line)
	if errors.Is(err, syscall.EMSGSIZE) {
		err = sendFile(r.conn, line)
	}
	if err = slow(err); n > 0 && err == errSlow { // the line counts as written: its rest comes before the next one
		r.last = append([]byte(nil), line...)
		r.rest, err = r.last[n:], nil
	}
	return err
}

func slow(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSlow
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
	priority := "5"
	switch e.Outcome() {
	case events.Success:
		priority = "6"
	case events.Error:
		priority = "3"
	}
	for _, field := range [][2]string{
		{"SYSLOG_IDENTIFIER", "mcp-bash-audit"}, {"PRIORITY", priority},
		{"MCPBASH_AUDIT_TYPE", string(e.Type)}, {"MCPBASH_AUDIT_OUTCOME", string(e.Outcome())},
		{"MCPBASH_AUDIT_ID", e.ID.String()},
	} {
		dst = append(append(append(append(dst, field[0]...), '='), field[1]...), '\n')
	}
	return append(append(dst, "MESSAGE="...), line...)
}
