package stream

import (
	"bytes"
	"encoding/json"
	"strings"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
)

// A Form is what a record has of the arguments of requests.
type Form string

// The forms.
const (
	none     Form = "none"
	digest   Form = "digest"   // SHA-256 of the compact JSON
	redacted Form = "redacted" // without what the schema or the rules about secrets call secret
)

// maxArguments is the longest JSON of arguments in a line, in bytes. Of longer ones it has the digest.
const maxArguments = 32 << 10

// redactTexts removes secrets from the texts of an event that clients choose. The same few come again and again, so
// the results are remembered. The lock is held.
func (s *Stream) redactTexts(e *events.Event) {
	for _, text := range [...]*string{&e.Target.Name, &e.Source.Agent, &e.Subject.Client, &e.Subject.Version, &e.Note,
		&e.Work.Refused} {
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

// shape gives the arguments of an event the form that the operator wants. They stay valid until the next event. The
// lock is held.
func (s *Stream) shape(e *events.Event) {
	c, w := &s.config, &e.Work
	s.shapeAnswers(w.Answers)
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
	if c.Arguments == digest || len(raw) > maxArguments {
		w.Digest = events.HashOf(raw)
		return
	}
	if c.Arguments == redacted {
		raw = s.redact(raw, w.Schema)
	}
	w.Arguments = raw
}

// shapeAnswers does the same with answers of clients. Without arguments it leaves only their actions.
func (s *Stream) shapeAnswers(answers []events.Answer) {
	for i := range answers {
		a := &answers[i]
		switch s.config.Arguments {
		case none, digest:
			a.Result = events.ActionOf(a.Result)
		case redacted:
			a.Result = s.config.Redactor.AppendJSON(nil, a.Result)
		default:
			a.Result = rawjson.AppendCompact(nil, a.Result)
		}
	}
}

// maxRedacted is the number of bytes of a text that are searched for secrets. Fewer are written.
const maxRedacted = 4096

// noArguments is recorded if a client sent no arguments. So only the form none has lines without arguments.
var noArguments = json.RawMessage("{}")

var hidden = json.RawMessage(`"` + events.Hidden + `"`)

// redact removes secrets from arguments: values that the schema calls writeOnly, and those that the rules know.
func (s *Stream) redact(arguments, schema json.RawMessage) json.RawMessage {
	if bytes.Contains(schema, writeOnly) {
		arguments = conceal(rawjson.Normal(arguments), schema)
	}
	s.arguments = s.config.Redactor.AppendJSON(s.arguments[:0], arguments)
	return s.arguments
}

var writeOnly = []byte(`"writeOnly"`)

// conceal replaces the values that a schema calls writeOnly, at any depth of properties and items. It does not follow
// references.
func conceal(v, schema json.RawMessage) json.RawMessage {
	if rawjson.True(rawjson.Get(schema, "writeOnly")) {
		return hidden
	}
	var b rawjson.Builder
	switch properties, items := rawjson.Get(schema, "properties"), rawjson.Get(schema, "items"); {
	case properties != nil && rawjson.KindOf(v) == rawjson.Object:
		b.Object()
		for name, value := range rawjson.All(v) {
			b.Name(name).Raw(conceal(value, rawjson.Get(properties, name)))
		}
	case items != nil && rawjson.KindOf(v) == rawjson.Array:
		b.Array()
		for value := range rawjson.Elements(v) {
			b.Raw(conceal(value, items))
		}
	default:
		return v
	}
	return b.End().Bytes()
}
