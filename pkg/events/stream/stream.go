// Package stream writes events, each as one line, before their requests are answered.
//
// Each line has the hash of the line before it, so a line that is changed, removed or inserted later is found. A line
// of the type [events.Seal] follows each minute, and ends each file. [Config] has the place of the lines: a file, a
// folder with one file for each process, standard error, or the socket of another program. A nil [Stream] records
// nothing, and costs a comparison.
package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/seal"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is the input of [Open].
type Config struct {
	To        string // "off" or "": nowhere; "stderr"; "journald"; "unix:PATH"; a file, or an existing folder
	Required  bool   // refuse requests that cannot be recorded
	SyncLine  bool   // wait for the disk after each line
	Key       string // the file of the key for seals; "": none
	MaxSize   int64  // bytes of a file
	Files     int    // ended files that stay
	Arguments Form   // of arguments
	Redactor  *secrets.Redactor
	Component string // name of the server
	Replica   string
	Stderr    io.Writer
	Warn      func(text string) // a fault of the record, for the operator
}

// errUnavailable is the error for an event that was not recorded.
var errUnavailable = errors.New("the audit record cannot be written")

// sealEvery is the time between two seals, syncEvery the longest time until a line is on the disk.
const (
	sealEvery = time.Minute
	syncEvery = time.Second
)

// A sink keeps lines.
type sink interface {
	// write keeps the line of an event with its line end, as a whole or not at all.
	write(e *events.Event, line []byte) error
	// full reports whether a file should end before a line of some bytes.
	full(size int) bool
	// next ends a file and begins another one.
	next() error
	// sync returns a function that waits until the lines are on the disk. Lines may be written meanwhile.
	sync() func() error
	close() error
}

// A Stream records events. All methods are safe for concurrent use.
type Stream struct {
	config Config

	mu        sync.Mutex
	out       sink
	link      events.Link       // of the next line
	line      []byte            // the last one, kept for the next one
	arguments []byte            // likewise: without secrets
	unhashed  bool              // the hash of line is missing in link
	spare     [][]byte          // for parts of lines
	redacted  map[string]string // of texts without their secrets
	missed    int               // events since the last line that were not written
	lost      int               // events that were not written, since the start
	broken    bool              // the last line was not written
	dirty     bool              // lines were written after the last sync began
	syncer    *time.Timer       // the next sync; nil: none is due or under way
	undone    bool              // the last sync failed
	timer     *time.Timer       // the next seal
	closed    bool
	key       *seal.File // nil: there is no key
	begun     bool       // the first seal with the key is written
}

// Open begins a record. It returns nil without an error if nothing is recorded. The caller calls [Stream.Close] at the
// end.
func Open(c Config) (*Stream, error) {
	if c.To == "" || c.To == "off" {
		return nil, nil
	}
	s := &Stream{config: c}
	var cut int64
	var err error
	if c.Key != "" { // before a file is made
		if s.key, err = seal.Open(c.Key); err != nil {
			return nil, fmt.Errorf("key %s: %w", c.Key, err)
		}
	}
	path, isUnix := strings.CutPrefix(c.To, "unix:")
	switch {
	case c.To == "stderr":
		s.out = lines{w: c.Stderr}
	case c.To == "journald":
		s.out = &receiver{network: "unixgram", path: journalSocket, journal: true}
	case isUnix && path == "":
		err = errors.New("unix: must be followed by the path of a socket")
	case isUnix:
		s.out = &receiver{network: "unix", path: path}
	default:
		var f *file
		if f, err = openFile(&c); err == nil {
			s.out, s.link, cut = f, f.link, f.cut
		}
	}
	if err != nil {
		if s.key != nil {
			s.key.Close()
		}
		return nil, err
	}
	if cut > 0 {
		c.Warn(fmt.Sprintf("%s: %d bytes of a line that was not complete were removed", c.To, cut))
		s.Emit(&events.Event{Type: events.Recovered, Count: int(cut)})
	}
	s.timer = time.AfterFunc(sealEvery, s.seal)
	return s, nil
}

// Prepare implements [events.Preparer]. If another goroutine writes a line, which can take long, it does nothing. Emit
// does the whole work then.
func (s *Stream) Prepare(e *events.Event) {
	if s == nil || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.completeLink()
	s.shape(e)
	e.Component, e.Replica = s.config.Component, s.config.Replica
	var buffer []byte
	if last := len(s.spare) - 1; last >= 0 {
		buffer, s.spare = s.spare[last], s.spare[:last]
	}
	e.Prepare(buffer)
}

// Emit records an event. The error is errUnavailable, only if the record is required.
func (s *Stream) Emit(e *events.Event) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if e.Prepared == nil {
		s.shape(e)
	}
	s.redactTexts(&e.Note, &e.Work.Refused)
	s.shapeAnswers(e.Work.Answers)
	err := s.emit(e)
	if e.Prepared != nil {
		if cap(e.Prepared) <= maxSpare && len(s.spare) < maxSpares {
			s.spare = append(s.spare, e.Prepared)
		}
		e.Prepared = nil
	}
	if err != nil && s.config.Required {
		return errUnavailable
	}
	return nil
}

// Lost returns how many events were not written.
func (s *Stream) Lost() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Ready returns the error for a required record that cannot be written now. It tries again first.
func (s *Stream) Ready() error {
	if s == nil || !s.config.Required {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken && s.report() != nil {
		return errUnavailable
	}
	return nil
}

// emit writes the line of an event, and before it the number of missed ones.
func (s *Stream) emit(e *events.Event) error {
	err := s.report()
	if err == nil {
		err = s.write(e)
	}
	if err == nil {
		return nil
	}
	s.missed++
	s.lost++
	if !s.broken {
		s.broken = true
		s.config.Warn(fmt.Sprintf("%s cannot be written: %v", s.config.To, err))
	}
	return err
}

// report writes the events that must precede the next line: the first seal, and the number of missed events.
func (s *Stream) report() error {
	if s.key != nil && !s.begun {
		if err := s.write(&events.Event{Type: events.Seal, Note: events.NoteStart}); err != nil {
			return err
		}
		s.begun = true
	}
	if s.missed == 0 {
		return nil
	}
	err := s.write(&events.Event{Type: events.Missed, Cause: mcp.CauseRecord, Count: s.missed})
	if err == nil {
		s.config.Warn(fmt.Sprintf("%s can be written again; %d events are missing", s.config.To, s.missed))
		s.missed, s.broken = 0, false
	}
	return err
}

func (s *Stream) write(e *events.Event) error {
	e.Component, e.Replica = s.config.Component, s.config.Replica
	now := time.Now()
	if e.Began.IsZero() {
		e.Began = now
	}
	line := s.encode(e, now)
	sealed := e.Type == events.Seal && s.key != nil
	var err error
	switch {
	case sealed:
		line = s.key.Seal(line)
	case s.out.full(len(line)+1) && e.Type != events.Seal:
		if err := s.rotate(); err != nil {
			return err
		}
		line = s.encode(e, now)
	}
	s.line = append(line, '\n')
	if err = s.out.write(e, s.line); err == nil {
		s.link.Seq++
		s.unhashed = true
		if s.config.SyncLine || sealed {
			err = s.out.sync()() // the line is there, so the chain goes on
		} else if s.dirty = true; s.syncer == nil {
			s.syncer = time.AfterFunc(syncEvery, s.flush)
		}
		if sealed {
			err = errors.Join(err, s.key.Forward())
		}
	}
	if cap(s.line)+cap(s.arguments) > maxKept {
		s.completeLink()
		s.line, s.arguments = nil, nil
	}
	return err
}

// encode returns the line of an event, in place of the last one.
func (s *Stream) encode(e *events.Event, now time.Time) []byte {
	s.completeLink()
	return e.AppendLine(s.line[:0], now, s.link)
}

// completeLink computes the hash of the last line, which the next one needs.
func (s *Stream) completeLink() {
	if s.unhashed {
		s.link.Prev, s.unhashed = events.HashOf(s.line[:len(s.line)-1]), false
	}
}

// maxKept is the size of a line whose memory is kept for the next one.
const maxKept = 64 << 10

// rotate ends the file with a seal and begins the next one.
func (s *Stream) rotate() error {
	if err := s.write(&events.Event{Type: events.Seal}); err != nil {
		return err
	}
	return s.out.next()
}

// seal writes a seal, and waits for the next one.
func (s *Stream) seal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.emit(&events.Event{Type: events.Seal})
		s.timer.Reset(sealEvery)
	}
}

// flush waits until the lines are on the disk. The disk can be slow, so requests do not wait for it.
func (s *Stream) flush() {
	s.mu.Lock()
	s.dirty = false
	sync := s.out.sync()
	s.mu.Unlock()
	err := sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return
	case s.dirty:
		s.syncer.Reset(syncEvery)
	default:
		s.syncer = nil
	}
	if err != nil && !s.undone {
		s.config.Warn(fmt.Sprintf("%s may not be on the disk: %v", s.config.To, err))
	}
	s.undone = err != nil
}

// Close writes the last seal and releases the file.
func (s *Stream) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.emit(&events.Event{Type: events.Seal, Note: events.NoteStop})
	s.closed = true
	s.timer.Stop()
	if s.syncer != nil {
		s.syncer.Stop()
	}
	s.out.sync()()
	s.out.close()
	if s.key != nil {
		s.key.Close()
	}
}

// lines are written to a stream that is not a file of the record.
type lines struct {
	endless
	w io.Writer
}

func (l lines) write(_ *events.Event, line []byte) error {
	_, err := l.w.Write(line)
	return err
}

// endless is the part of a sink without files.
type endless struct{}

func (endless) full(int) bool      { return false }
func (endless) next() error        { return nil }
func (endless) sync() func() error { return func() error { return nil } }
func (endless) close() error       { return nil }

// A Form is the form in which a record has the arguments of requests.
type Form string

// The forms.
const (
	none     Form = "none"
	digest   Form = "digest"   // SHA-256 of the compact JSON
	redacted Form = "redacted" // without the values that the schema or the rules about secrets call secret
)

// maxArguments is the longest JSON of arguments in a line, in bytes. For longer arguments the line has the digest.
const maxArguments = 32 << 10

// redactTexts removes secrets from texts. The same few come again and again, so the results are remembered. The lock is
// held.
func (s *Stream) redactTexts(texts ...*string) {
	for _, text := range texts {
		if *text == "" {
			continue
		}
		if len(*text) > maxRedacted { // more of it is not written
			*text = (*text)[:maxRedacted]
		}
		clean, known := s.redacted[*text]
		if !known {
			clean = s.config.Redactor.Text(*text)
			if s.redacted == nil || len(s.redacted) >= maxRemembered {
				s.redacted = make(map[string]string)
			}
			s.redacted[strings.Clone(*text)] = clean
		}
		*text = clean
	}
}

const maxRemembered = 256

// Limits of the memory that is kept for parts of lines: the bytes of each, and their number.
const (
	maxSpare  = 4 << 10
	maxSpares = 16
)

// shape removes secrets from the texts of an event that clients choose, and converts its arguments to the configured
// form. They stay valid until the next event. The lock is held.
func (s *Stream) shape(e *events.Event) {
	s.redactTexts(&e.Target.Name, &e.Source.Agent, &e.Subject.Client, &e.Subject.Version)
	if id := e.Source.RequestID; rawjson.KindOf(id) == rawjson.String && len(id) <= maxRedacted {
		e.Source.RequestID = s.config.Redactor.AppendJSON(nil, e.Source.RequestID)
	}
	c, w := &s.config, &e.Work
	switch {
	case w.Arguments != nil:
	case e.Type == events.ToolCall || e.Type == events.PromptGet:
		w.Arguments = noArguments
	default:
		return
	}
	raw := w.Arguments
	w.Arguments = nil
	if c.Arguments == none {
		return
	}
	if !rawjson.IsCompact(raw) {
		raw = rawjson.AppendCompact(nil, raw)
	}
	isUnknown := e.Type == events.ToolCall && w.Schema == nil && len(raw) > len(noArguments)
	if c.Arguments == digest || len(raw) > maxArguments || c.Arguments == redacted && isUnknown {
		w.Digest = events.HashOf(raw)
		return
	}
	if c.Arguments == redacted {
		raw = s.redact(raw, w.Schema)
	}
	w.Arguments = raw
}

// shapeAnswers converts the answers of clients in the same way. For the form none, it keeps only their actions.
func (s *Stream) shapeAnswers(answers []events.Answer) {
	for i := range answers {
		a := &answers[i]
		switch s.config.Arguments {
		case none, digest:
			a.Result = events.ActionOf(a.Result)
		case redacted:
			if namesSecrets(a.Schema) {
				var b rawjson.Builder
				b.Object().Name("properties").Object().Name("content").Raw(a.Schema)
				a.Result = conceal(rawjson.Normal(a.Result), b.End().End().Bytes())
			}
			a.Result = s.config.Redactor.AppendJSON(nil, a.Result)
		default:
			a.Result = rawjson.AppendCompact(nil, a.Result)
		}
	}
}

// maxRedacted is the maximum number of bytes of a text that are searched for secrets. Fewer are written.
const maxRedacted = 4096

// noArguments is recorded if a client sent no arguments. So only the form none has lines without arguments.
var noArguments = json.RawMessage("{}")

// redact removes secrets from arguments: values that the schema calls writeOnly, and those that the rules know.
func (s *Stream) redact(arguments, schema json.RawMessage) json.RawMessage {
	if namesSecrets(schema) {
		arguments = conceal(rawjson.Normal(arguments), schema)
	}
	s.arguments = s.config.Redactor.AppendJSON(s.arguments[:0], arguments)
	return s.arguments
}
