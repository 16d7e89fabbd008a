package events

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

// A Hash identifies a line: the SHA-256 of its bytes without the line end.
type Hash [sha256.Size]byte

// HashOf returns the hash of a line.
func HashOf(line []byte) Hash { return sha256.Sum256(line) }

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// A Link is the place of a line in its chain: the number of lines before it, and the hash of the last of these. It is
// zero for the first line.
type Link struct {
	Seq  int64
	Prev Hash
}

// TimeFormat is the form of times in lines: UTC, with microseconds.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// MaxLine is an upper bound for the length of a line that AppendLine makes, in bytes.
const MaxLine = 1 << 20

// Hidden is the text in place of an argument that a schema calls writeOnly.
const Hidden = "[redacted]"

// AppendLine appends an event as one line of JSON, without a line end. It makes no copies of texts.
func (e *Event) AppendLine(dst []byte, now time.Time, link Link) []byte {
	w := writer{dst: dst}
	w.open("")
	w.time("time", now)
	e.appendKnown(&w, request)
	w.text("outcome", string(e.Outcome()))
	e.appendMetadata(&w)
	e.appendData(&w)
	w.open("chain")
	w.number("seq", link.Seq)
	w.hex("prev", link.Prev[:])
	w.end()
	w.end()
	return w.dst
}

// A part is a sequence of members that do not depend on the end of the work. So it can be encoded before.
type part int

const (
	request part = iota
	context      // in "metadata.extra"
	call         // in "data"
	parts        // their number
)

// Prepare encodes the parts of the line that do not depend on the end of the work, into buffer, if it is large enough.
// [Event.AppendLine] then ignores the fields that these parts have.
func (e *Event) Prepare(buffer []byte) {
	w := writer{dst: buffer[:0]}
	for p := range parts {
		w.comma = false
		e.appendPart(&w, p)
		e.ends[p] = len(w.dst)
	}
	e.Prepared = w.dst
}

// appendPart appends the members of a part.
func (e *Event) appendPart(w *writer, p part) {
	switch p {
	case request:
		e.appendRequest(w)
	case context:
		e.appendContext(w)
	case call:
		e.appendCall(w)
	}
}

// appendKnown appends the members of a part, which may be encoded already.
func (e *Event) appendKnown(w *writer, p part) {
	if e.Prepared == nil {
		e.appendPart(w, p)
		return
	}
	from := 0
	if p > 0 {
		from = e.ends[p-1]
	}
	if from == e.ends[p] {
		return
	}
	if w.comma {
		w.dst = append(w.dst, ',')
	}
	w.dst, w.comma = append(w.dst, e.Prepared[from:e.ends[p]]...), true
}

func (e *Event) appendRequest(w *writer) {
	w.text("level", "AUDIT")
	w.text("msg", "audit_event")
	w.text("audit_id", e.ID)
	w.text("type", string(e.Type))
	w.time("logged_at", e.Began)
	w.text("component", e.Component)
	e.appendSource(w)
	e.appendSubject(w)
	e.appendTarget(w)
}

func (e *Event) appendSource(w *writer) {
	s := &e.Source
	if s.Transport == "" {
		return
	}
	kind := "local"
	if s.Address != "" {
		kind = "network"
	}
	w.open("source")
	w.text("type", kind)
	w.text("value", s.Address)
	w.open("extra")
	w.text("user_agent", s.Agent)
	if len(s.RequestID) <= maxText {
		w.bytes("request_id", s.RequestID)
	}
	w.text("session_id", s.Session)
	w.end()
	w.end()
}

func (e *Event) appendSubject(w *writer) {
	s := &e.Subject
	if e.Source.Transport == "" {
		return
	}
	user := s.User
	if user == "" {
		user = "anonymous"
	}
	w.open("subjects")
	w.text("user", user)
	w.text("user_id", s.UserID)
	w.text("client_name", s.Client)
	w.text("client_version", s.Version)
	w.end()
}

func (e *Event) appendTarget(w *writer) {
	t := &e.Target
	if *t == (Target{}) {
		return
	}
	w.open("target")
	w.text("method", t.Method)
	w.text("type", cmp.Or(t.Kind, kindOf(TypeOf(t.Method))))
	if t.IsURI {
		w.text("uri", t.Name)
	} else {
		w.text("name", t.Name)
	}
	w.end()
}

// kindOf returns the kind of a target.
func kindOf(t Type) string {
	switch t {
	case ToolCall:
		return "tool"
	case ResourceRead:
		return "resource"
	case PromptGet:
		return "prompt"
	}
	return ""
}

func (e *Event) appendMetadata(w *writer) {
	w.open("metadata")
	w.open("extra")
	if e.Target.Method != "" || e.Type == SessionEnd {
		w.millis("duration_ms", e.Work.Took)
	}
	w.count("response_size_bytes", e.Work.Bytes)
	w.count("jsonrpc_error_code", e.Work.Code)
	e.appendKnown(w, context)
	w.end()
	w.end()
}

func (e *Event) appendContext(w *writer) {
	w.text("transport", e.Source.Transport)
	w.text("mcp_version", e.Source.Revision)
	w.text("replica", e.Replica)
	w.text("trace_id", e.Trace.ID)
	w.text("parent_span_id", e.Trace.Parent)
	w.text("span_id", e.Work.Span)
	if e.Work.Trace != e.Trace.ID {
		w.text("span_trace_id", e.Work.Trace)
	}
	w.text("link_trace_id", e.Trace.Link)
	w.text("link_span_id", e.Trace.LinkSpan)
}

func (e *Event) appendData(w *writer) {
	w.open("data")
	w.text("reason", string(e.Cause))
	if e.Interim {
		w.bytes("interim", []byte("true"))
	}
	e.appendKnown(w, call)
	if work := &e.Work; e.Target.Method != "" {
		w.duration("queued_ms", work.Queued)
		w.duration("run_ms", work.Ran)
		if work.Ended {
			w.number("exit_status", int64(work.Status))
			w.count("signal", work.Signal)
		}
	}
	w.text("refused", e.Work.Refused)
	appendAnswers(w, e.Work.Answers)
	w.list("added", e.Change.Added)
	w.list("removed", e.Change.Removed)
	w.list("changed", e.Change.Changed)
	w.count("count", e.Count)
	w.text("note", e.Note)
	w.end()
}

func (e *Event) appendCall(w *writer) {
	work := &e.Work
	if e.Target.Method != "" {
		w.bytes("arguments", work.Arguments)
		if work.Digest != (Hash{}) {
			w.hex("arguments_sha256", work.Digest[:])
		}
	}
	if work.Script != (Hash{}) {
		w.hex("script_sha256", work.Script[:])
	}
	if work.Metadata != (Hash{}) {
		w.hex("metadata_sha256", work.Metadata[:])
	}
	w.text("issuer", e.Subject.Issuer)
	w.text("token", e.Subject.Token)
	w.list("scopes", e.Subject.Scopes)
}

func appendAnswers(w *writer, answers []Answer) {
	if len(answers) == 0 {
		return
	}
	w.key("answers")
	w.dst = append(w.dst, '[')
	for i, a := range answers {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.open("")
		w.text("method", a.Method)
		w.bytes("result", a.Result)
		w.end()
	}
	w.dst, w.comma = append(w.dst, ']'), true
}

// millis writes a duration in milliseconds with its microseconds.
func (w *writer) millis(name string, d time.Duration) {
	w.key(name)
	us := max(d.Microseconds(), 0)
	w.dst = strconv.AppendInt(w.dst, us/1000, 10)
	if rest := us % 1000; rest != 0 {
		w.dst = append(w.dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	}
}

// duration is millis, but it leaves out zero.
func (w *writer) duration(name string, d time.Duration) {
	if d > 0 {
		w.millis(name, d)
	}
}

// ErrForm is the error for a line that is not an event.
var ErrForm = errors.New("not a line of an audit record")

// Parse returns the value of a line, and its place in its chain. The error is [ErrForm].
func Parse(line []byte) (v json.RawMessage, link Link, err error) {
	if v, err = rawjson.Check(line); err != nil || rawjson.TextOf(v, "msg") != "audit_event" {
		return nil, link, ErrForm
	}
	chain := rawjson.Get(v, "chain")
	link.Seq, err = strconv.ParseInt(string(rawjson.Get(chain, "seq")), 10, 64)
	prev := rawjson.TextOf(chain, "prev")
	if err != nil || link.Seq < 0 || len(prev) != 2*len(link.Prev) {
		return nil, link, ErrForm
	}
	if _, err := hex.Decode(link.Prev[:], []byte(prev)); err != nil {
		return nil, link, ErrForm
	}
	return v, link, nil
}

// Longer texts, in bytes, and longer lists are cut, because clients choose them.
const (
	maxText = 1024
	maxList = 32
)

func appendText(dst []byte, text string) []byte {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return rawjson.AppendString(dst, text)
}

// A writer appends members of objects. It leaves out empty values. Unlike [rawjson.Builder], it allocates no memory,
// because every call of a tool writes a line.
type writer struct {
	dst   []byte
	comma bool // a member comes before the next one
}

func (w *writer) key(name string) {
	if w.comma {
		w.dst = append(w.dst, ',')
	}
	w.comma = true
	w.dst = append(append(append(w.dst, '"'), name...), '"', ':')
}

// open begins an object, which is a member unless name is "".
func (w *writer) open(name string) {
	if name != "" {
		w.key(name)
	}
	w.dst, w.comma = append(w.dst, '{'), false
}

func (w *writer) end() { w.dst, w.comma = append(w.dst, '}'), true }

func (w *writer) text(name, value string) {
	if value == "" {
		return
	}
	w.key(name)
	w.dst = appendText(w.dst, value)
}

func (w *writer) bytes(name string, value []byte) {
	if len(value) > 0 {
		w.key(name)
		w.dst = append(w.dst, value...)
	}
}

func (w *writer) hex(name string, value []byte) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = hex.AppendEncode(w.dst, value)
	w.dst = append(w.dst, '"')
}

func (w *writer) list(name string, values []string) {
	if len(values) == 0 {
		return
	}
	w.key(name)
	w.dst = append(w.dst, '[')
	for i, v := range values[:min(len(values), maxList)] {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendText(w.dst, v)
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) number(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

// count is number, but it leaves out zero.
func (w *writer) count(name string, n int) {
	if n != 0 {
		w.number(name, int64(n))
	}
}

func (w *writer) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = t.UTC().AppendFormat(w.dst, time.RFC3339) // much faster than TimeFormat
	w.dst[len(w.dst)-1] = '.'
	us := t.Nanosecond() / 1000
	for i := 100_000; i > 0; i /= 10 {
		w.dst = append(w.dst, byte('0'+us/i%10))
	}
	w.dst = append(w.dst, 'Z', '"')
}
