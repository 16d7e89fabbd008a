// Package trail reads the lines that package stream writes, and checks their chain.
//
// [Read] yields each line of a record as an [Entry]. A [Verifier] takes the entries in order and finds lines that were
// changed, removed, added or moved ([Fault]). It cannot find that the last lines are gone, or that a whole record was
// written anew. For that, compare [Verifier.Head] with a hash that was kept elsewhere, or check its [Seals].
package trail

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
)

// An Entry is a line of a record. The zero value of a member means that the line lacks it.
type Entry struct {
	Line   int             // from 1
	Size   int64           // in bytes, with the line end
	Raw    json.RawMessage // the line; nil if it is torn or too long
	Hash   events.Hash
	Link   events.Link
	Broken error // the line is not an event, and everything below is zero

	Type                 events.Type
	Outcome              events.Outcome
	Time, Began          time.Time
	ID, Reason           string
	User, Client         string
	Address              string
	Method, Target       string
	Took, Queued, Ran    time.Duration
	Arguments            json.RawMessage
	Status, Signal, Code string // JSON numbers
	Count                int
	Asked                bool // the client answered questions
	Interim              bool // the request goes on, and has a later line
	Epoch                int  // of a seal with a key
	Note                 string
}

// IsCall reports whether a line is about a request of a client, apart from the begin of a session.
func (e *Entry) IsCall() bool { return e.Method != "" && e.Type != events.Initialize }

// IsComplete reports whether a line has the target and the arguments as the client sent them, with their secrets.
func (e *Entry) IsComplete() bool {
	text := e.Target + string(e.Arguments)
	return (e.Arguments != nil || e.Type == events.ResourceRead) && !strings.HasSuffix(e.Target, "…") &&
		!strings.Contains(text, events.Hidden) && !strings.Contains(text, secrets.Redacted)
}

// Caller returns the name under which reports count a line.
func (e *Entry) Caller() string {
	switch {
	case e.User != "" && e.User != "anonymous":
		return e.User
	case e.Client != "":
		return e.Client
	}
	return "anonymous"
}

var (
	// ErrTorn is the error for the last line of a file if it has no end.
	ErrTorn = errors.New("the line does not end: the server was killed, or is writing it")
	errLong = fmt.Errorf("the line is longer than %d bytes", events.MaxLine)
)

// ErrOther is the fault of a line of a log that is not an event.
var ErrOther = errors.New("another line of the log")

// Read calls each with every line of a record, until each returns an error.
func Read(r io.Reader, each func(*Entry) error) error { return read(r, false, each) }

// ReadLog is Read for a log that also has lines of others, which are Broken by [ErrOther]. It drops what a log
// collector puts before an event, which is everything up to the first brace.
func ReadLog(r io.Reader, each func(*Entry) error) error { return read(r, true, each) }

func read(r io.Reader, log bool, each func(*Entry) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, size, err := readLine(in)
		if err == io.EOF {
			return nil
		}
		e := &Entry{Broken: err}
		switch {
		case err == nil && log:
			e = parse(line[max(bytes.IndexByte(line, '{'), 0):])
		case err == nil:
			e = parse(line)
		case err != ErrTorn && err != errLong:
			return err
		}
		if log && e.Broken != nil && e.Broken != ErrTorn {
			e.Broken = ErrOther
		}
		e.Line, e.Size = n, size
		if err := each(e); err != nil {
			return err
		}
	}
}

// readLine returns a copy of a line without its end, and its size. The error is io.EOF after the last one, [ErrTorn]
// or [errLong].
func readLine(in *bufio.Reader) (line []byte, size int64, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if len(line)+len(part) > events.MaxLine {
			line, long = line[:0], true
		}
		line = append(line, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) == 0 && !long:
			return nil, 0, io.EOF
		case err == io.EOF:
			return nil, size, ErrTorn
		case err != nil:
			return nil, size, err
		case long:
			return nil, size, errLong
		}
		return line[:len(line)-1], size, nil
	}
}

func parse(line []byte) *Entry {
	e := &Entry{Raw: line, Hash: events.HashOf(line)}
	var v json.RawMessage
	if v, e.Link, e.Broken = events.Parse(line); e.Broken != nil {
		return e
	}
	e.Type, e.Outcome = events.Type(rawjson.TextOf(v, "type")), events.Outcome(rawjson.TextOf(v, "outcome"))
	e.Time, _ = time.Parse(events.TimeFormat, rawjson.TextOf(v, "time"))
	e.Began, _ = time.Parse(events.TimeFormat, rawjson.TextOf(v, "logged_at"))
	e.ID = rawjson.TextOf(v, "audit_id")
	e.Address = rawjson.TextOf(rawjson.Get(v, "source"), "value")
	subjects, target := rawjson.Get(v, "subjects"), rawjson.Get(v, "target")
	e.User, e.Client = rawjson.TextOf(subjects, "user"), rawjson.TextOf(subjects, "client_name")
	e.Method, e.Target = rawjson.TextOf(target, "method"), rawjson.TextOf(target, "name")
	if uri := rawjson.TextOf(target, "uri"); uri != "" {
		e.Target = uri
	}
	extra, data := rawjson.Path(v, "metadata", "extra"), rawjson.Get(v, "data")
	e.Took, e.Code = millis(rawjson.Get(extra, "duration_ms")), string(rawjson.Get(extra, "jsonrpc_error_code"))
	e.Reason = rawjson.TextOf(data, "reason")
	e.Queued, e.Ran = millis(rawjson.Get(data, "queued_ms")), millis(rawjson.Get(data, "run_ms"))
	e.Arguments = rawjson.Get(data, "arguments")
	e.Status, e.Signal = string(rawjson.Get(data, "exit_status")), string(rawjson.Get(data, "signal"))
	e.Epoch = rawjson.PositiveInt(rawjson.Path(v, "chain", "epoch"))
	e.Note = rawjson.TextOf(data, "note")
	e.Count = rawjson.PositiveInt(rawjson.Get(data, "count"))
	e.Asked = rawjson.Get(data, "answers") != nil
	e.Interim = rawjson.True(rawjson.Get(data, "interim"))
	return e
}

// millis returns the duration of a number of milliseconds with decimals.
func millis(v json.RawMessage) time.Duration {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < 0 || f > float64(1<<40) {
		return 0
	}
	return time.Duration(f * float64(time.Millisecond))
}
