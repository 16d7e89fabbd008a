package stream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
)

// A file is the current file of a record. No other process writes to it: it is locked.
type file struct {
	dir    *os.Root
	name   string
	f      *os.File
	size   int64 // of whole lines
	max    int64
	keep   int
	link   events.Link // of the next line, when the file was opened
	cut    int64       // bytes of a torn line that were removed
	folder bool        // the file was made for this process
	seen   time.Time   // when the file had its name, at the last check
	strict bool        // check that before each line
	warn   func(text string)
}

// openFile opens the file of a record, or makes one in its folder.
func openFile(c *Config) (*file, error) {
	path, err := filepath.Abs(c.To)
	if err != nil {
		return nil, err
	}
	t := &file{name: filepath.Base(path), max: c.MaxSize, keep: c.Files, strict: c.Required, warn: c.Warn}
	place := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		host, _ := os.Hostname()
		t.folder, place = true, path
		t.name = fmt.Sprintf("%s-%s-%d%s", fileWord(host, c.Replica), time.Now().UTC().Format("20060102T150405.000Z"),
			os.Getpid(), extension)
	}
	if t.dir, err = os.OpenRoot(place); err != nil {
		return nil, err
	}
	if err := t.open(); err != nil {
		t.close()
		return nil, fmt.Errorf("%s: %w", filepath.Join(place, t.name), err)
	}
	return t, nil
}

const extension = ".jsonl"

// fileWord returns the part of a file name that differs between machines.
func fileWord(host, replica string) string {
	word := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '.' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, host+replica)
	if word = strings.TrimLeft(word, "."); word == "" {
		return "audit"
	}
	return word[:min(len(word), 100)]
}

var (
	errLocked  = errors.New("another server writes to this file; give each server another file, or all of them a folder")
	errForeign = errors.New("its last line is not one of an audit record; name another file")
	errLink    = errors.New("a link, or replaced while it was opened; name the file itself")
)

// open opens the file, locks it and finds the end of its last whole line.
func (t *file) open() error {
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND | boundedfile.NonBlock
	if t.folder && t.f == nil { // not for the file that follows a moved one
		flags |= os.O_EXCL
	}
	if info, err := t.dir.Lstat(t.name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errLink // before its target is made
	}
	f, err := t.dir.OpenFile(t.name, flags, 0o600)
	if err != nil {
		return err
	}
	t.f = f
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	}
	if now, err := t.dir.Lstat(t.name); err != nil || !os.SameFile(info, now) {
		return errLink
	}
	if err := trust.CheckOwn(filepath.Join(t.dir.Name(), t.name), info); err != nil {
		return err
	}
	if locked, err := atomicfile.TryLock(f); err != nil {
		return err
	} else if !locked {
		return errLocked
	}
	return t.resume(info.Size())
}

// resume continues the chain of an existing file. It removes a line that a killed server did not finish.
func (t *file) resume(size int64) error {
	last, whole, err := lastLine(t.f, size)
	if err == nil && whole == 0 && !t.folder {
		last, err = t.lastEnded()
	}
	if err != nil {
		return err
	}
	if last != nil {
		_, link, err := events.Parse(last)
		if err != nil {
			return errForeign
		}
		t.link = events.Link{Seq: link.Seq + 1, Prev: events.HashOf(last)}
	}
	t.size, t.cut = whole, size-whole
	if t.cut > 0 {
		return t.f.Truncate(whole)
	}
	return nil
}

// lastEnded returns the last line of the newest ended file, or nil. Its chain goes on if a server was killed after it
// had ended the file, and before the next file had a line.
func (t *file) lastEnded() ([]byte, error) {
	entries, err := fs.ReadDir(t.dir.FS(), ".")
	if err != nil {
		return nil, err
	}
	old, _ := events.Ended(t.name, entries)
	if len(old) == 0 {
		return nil, nil
	}
	name := old[len(old)-1]
	f, err := boundedfile.OpenIn(t.dir, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	last, _, err := lastLine(f, info.Size())
	if last == nil {
		return nil, fmt.Errorf("%s: %w", name, cmp.Or(err, errForeign))
	}
	return last, nil
}

// lastLine returns the last whole line of a file, without its end, and the size of all whole lines. The line is nil if
// the file has no whole line.
func lastLine(f *os.File, size int64) (line []byte, whole int64, err error) {
	from := max(size-2*events.MaxLine, 0) // a whole line and a torn one
	tail := make([]byte, size-from)
	if _, err := io.ReadFull(io.NewSectionReader(f, from, size-from), tail); err != nil {
		return nil, 0, err
	}
	end := bytes.LastIndexByte(tail, '\n')
	switch {
	case end >= 0:
		return tail[bytes.LastIndexByte(tail[:end], '\n')+1 : end], from + int64(end) + 1, nil
	case from > 0:
		return nil, 0, errForeign
	}
	return nil, 0, nil
}

// stay begins a new file if the file was moved or removed. It checks that once a second, or always if strict.
func (t *file) stay(strict bool) error {
	now := time.Now()
	if d := now.Sub(t.seen); !strict && d >= 0 && d < syncEvery {
		return nil
	}
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	named, err := t.dir.Lstat(t.name)
	switch {
	case err == nil && os.SameFile(info, named), err != nil && !errors.Is(err, fs.ErrNotExist):
		t.seen = now
		return nil
	case err == nil && named.Size() > 0:
		return errors.New("another file has its name; move that file away")
	}
	old := t.f
	if err := t.open(); err != nil {
		if t.f != old {
			t.f.Close()
		}
		t.f = old
		return fmt.Errorf("it was moved or removed: %w", err)
	}
	syncData(old)
	old.Close()
	t.seen = now
	t.warn(t.name + " was moved or removed while the server wrote to it; a new file has the next lines")
	return nil
}

func (t *file) write(_ *events.Event, line []byte) error {
	if err := t.stay(t.strict); err != nil {
		return err
	}
	if _, err := t.f.Write(line); err != nil {
		t.f.Truncate(t.size) // a part of the line may be there, if the disk is full
		return err
	}
	t.size += int64(len(line))
	return nil
}

func (t *file) full(size int) bool { return t.max > 0 && t.size > 0 && t.size+int64(size) > t.max }

// next renames the file to its number, and begins a new one. The oldest files are removed.
func (t *file) next() error {
	if err := t.stay(true); err != nil || t.size == 0 {
		return err
	}
	if err := syncData(t.f); err != nil {
		return err
	}
	entries, err := fs.ReadDir(t.dir.FS(), ".")
	if err != nil {
		return err
	}
	old, ended := events.Ended(t.name, entries)
	if err := t.dir.Rename(t.name, ended); err != nil {
		return err
	}
	f, err := t.dir.OpenFile(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Join(err, t.dir.Rename(ended, t.name))
	}
	if locked, err := atomicfile.TryLock(f); err != nil || !locked {
		f.Close()
		return errors.Join(errLocked, err)
	}
	t.f.Close()
	t.f, t.size = f, 0
	for ; len(old) >= max(t.keep, 1); old = old[1:] {
		if err := t.dir.Remove(old[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return t.syncDir()
}

// syncDir waits until the new names are on the disk. Some systems cannot do that.
func (t *file) syncDir() error {
	d, err := t.dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	d.Sync()
	return nil
}

func (t *file) sync() func() error {
	f := t.f // next replaces it
	return func() error { return syncData(f) }
}

func (t *file) close() error {
	var err error
	if t.f != nil {
		err = t.f.Close()
	}
	return errors.Join(err, t.dir.Close())
}

// A receiver is the socket of another program that takes lines. The program can read slowly, end and come back. A write
// waits for patience at most. After a failure, writes fail at once for a pause, and the next attempt is short.
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
