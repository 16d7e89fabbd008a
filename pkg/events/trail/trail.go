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
	"mcp-bash/pkg/events/seal"
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

// Requests returns the number of requests in a line about a request: its own, and those that only its count has.
func (e *Entry) Requests() int { return 1 + e.Count }

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

// ReadLog is Read for a log that also has lines of others, which are Broken by [ErrOther]. It drops the prefix that a
// log collector puts before an event: everything up to the first brace.
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

// A Kind is a kind of [Fault].
type Kind string

// The kinds of faults.
const (
	Torn     Kind = "torn"     // the last line does not end
	Foreign  Kind = "foreign"  // a line that no server wrote
	Changed  Kind = "changed"  // the line before was changed, or lines were removed, added or moved here
	Missing  Kind = "missing"  // the record begins later than its first line
	Unsealed Kind = "unsealed" // no seal for too long: lines may be missing at the end of a file or before a gap
	Backward Kind = "backward" // the time of a line is before that of an earlier one
	Empty    Kind = "empty"    // no line at all
	Seal     Kind = "seal"     // a seal is missing, late or not made with the key: see Seals
	Head     Kind = "head"     // the hash that was kept elsewhere is not in the record
)

// A Fault is a place where a record is not as a server wrote it.
type Fault struct {
	Kind Kind
	Line int // from 1; 0: of the whole record
	Text string
}

// A Verifier checks the lines of a record, file after file.
type Verifier struct {
	head events.Hash
	seq  int64 // of the next line
	any  bool
	time time.Time
}

// allowed is the longest time between two lines: a seal comes each minute, also if nothing happens. It leaves time for
// a machine that is busy or asleep for a moment.
const allowed = 3 * time.Minute

// maxBack is how far a clock may be set back between two lines.
const maxBack = 5 * time.Second

// Add checks the next line. The result is nil if the line is right.
func (v *Verifier) Add(e *Entry) *Fault {
	switch e.Broken {
	case nil:
	case ErrOther:
		return nil
	case ErrTorn:
		return &Fault{Torn, e.Line, ErrTorn.Error()}
	default:
		return &Fault{Foreign, e.Line, e.Broken.Error()}
	}
	fault := v.check(e)
	v.head, v.seq, v.any = e.Hash, e.Link.Seq+1, true
	if e.Time.After(v.time) {
		v.time = e.Time
	}
	return fault
}

func (v *Verifier) check(e *Entry) *Fault {
	switch {
	case !v.any && e.Link.Seq > 0:
		return &Fault{Missing, e.Line, fmt.Sprintf("the record begins with line number %d: %d lines before it are in "+
			"another file, or were removed", e.Link.Seq, e.Link.Seq)}
	case !v.any:
		return nil
	case e.Link.Seq != v.seq:
		return &Fault{Changed, e.Line, fmt.Sprintf("number %d follows number %d", e.Link.Seq, v.seq-1)}
	case e.Link.Prev != v.head:
		return &Fault{Changed, e.Line, "the hash is not that of the line before"}
	case e.Time.Before(v.time.Add(-maxBack)):
		return &Fault{Backward, e.Line, fmt.Sprintf("its time is %s before that of an earlier line", v.time.Sub(e.Time))}
	case e.Time.Sub(v.time) > allowed && e.Type != events.Start && e.Type != events.Recovered:
		return &Fault{Unsealed, e.Line, fmt.Sprintf("nothing was written for %s before it, not even a seal",
			e.Time.Sub(v.time).Round(time.Second))}
	}
	return nil
}

// Head returns the hash of the last line.
func (v *Verifier) Head() events.Hash { return v.head }

// Seals checks the seals of a server with a key, record after record. The server seals each minute. So a seal is
// missing, late or made with another key if lines are gone, written anew or sealed later.
type Seals struct {
	Key  seal.Key // of the first epoch, from where it was kept
	last seal.Key // of the last seal; its Epoch is 0 before the first one

	First   int       // epoch of the first seal; above 1: records before it are gone
	Until   time.Time // of the last seal
	Stopped bool      // the server stopped with it
	Open    int       // lines after it

	began time.Time // of the first line
}

// maxEpoch limits the time to compute a key. It is the number of minutes in 31 years.
const maxEpoch = 1 << 24

// Add checks the next line.
func (s *Seals) Add(e *Entry) *Fault {
	if s.began.IsZero() {
		s.began = e.Time
	}
	if text := s.check(e); text != "" {
		return &Fault{Seal, e.Line, text}
	}
	if s.Open++; e.Epoch > 0 {
		s.Until, s.Stopped, s.Open = e.Time, e.Note == events.NoteStop, 0
	}
	return nil
}

func (s *Seals) check(e *Entry) string {
	starts := e.Epoch > 0 && e.Note == events.NoteStart
	switch gap := e.Time.Sub(s.Until); {
	case s.First == 0 && e.Epoch == 0:
		return ""
	case s.First == 0:
		return s.begin(e)
	case s.Stopped && !starts:
		return "the server had stopped before it"
	case gap > allowed && !starts:
		return fmt.Sprintf("there is no seal for %s before it", gap.Round(time.Second))
	case gap < -maxBack:
		return fmt.Sprintf("its time is %s before that of the last seal", -gap)
	case e.Epoch == 0:
		return ""
	case e.Epoch == s.last.Epoch && starts && s.Open == 0: // the server was killed before its file had the next key
	case e.Epoch != s.last.Epoch+1:
		return fmt.Sprintf("seal number %d follows seal number %d", e.Epoch, s.last.Epoch)
	default:
		s.last = s.last.Next()
	}
	return s.made(e)
}

// begin checks the first seal. Without seals before it, lines that are older than its epoch cannot be there.
func (s *Seals) begin(e *Entry) string {
	switch {
	case e.Epoch > maxEpoch:
		return "the number of its seal is too large"
	case e.Epoch > 1 && e.Time.Sub(s.began) > allowed:
		return "the seals before it are missing"
	}
	s.First = e.Epoch
	for s.last = s.Key; s.last.Epoch < e.Epoch; s.last = s.last.Next() {
	}
	return s.made(e)
}

func (s *Seals) made(e *Entry) string {
	if !s.last.Made(e.Raw) {
		return "its seal is not one of the key: lines before it were changed, or it was made later"
	}
	return ""
}

// End checks that the last record does not end too early. current is the epoch of the key in the server's file; 0 means
// unknown.
func (s *Seals) End(now time.Time, current int) *Fault {
	switch {
	case s.First == 0:
		return &Fault{Kind: Seal, Text: "no line is sealed"}
	case s.last.Epoch+1 < current:
		return &Fault{Kind: Seal, Text: fmt.Sprintf("the server has made seals up to number %d, and the last one here has "+
			"number %d", current-1, s.last.Epoch)}
	case !s.Stopped && now.Sub(s.Until) > allowed:
		return &Fault{Kind: Seal, Text: "the last seal is of " + s.Until.Format(time.RFC3339) + ", and the server did not " +
			"stop then: it was killed, or lines after it are gone"}
	}
	return nil
}
