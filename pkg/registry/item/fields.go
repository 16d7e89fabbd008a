package item

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A Source is one object of metadata: a metadata file, an inline header, or an entry of a
// declared list.
type Source struct {
	Location
	members []member
}

type member struct{ name, value json.RawMessage } // the name as written, quoted

func (m member) isOneOf(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return rawjson.NameIs(m.name, name) })
}

// NewSource returns the source of a JSON object at a location.
func NewSource(w Location, object json.RawMessage) Source {
	s := Source{Location: w, members: make([]member, 0, 8)}
	rawjson.Each(object, func(name, value json.RawMessage) {
		s.members = append(s.members, member{name, value})
	})
	return s
}

// get returns the value of a member, or nil if it is missing or null.
func (s *Source) get(name string) json.RawMessage {
	if v := s.Last(name); !rawjson.Absent(v) {
		return v
	}
	return nil
}

// Last returns the value of a member, or nil. If the member is repeated, the last value
// counts.
func (s *Source) Last(name string) json.RawMessage {
	for i := len(s.members) - 1; i >= 0; i-- {
		if m := &s.members[i]; rawjson.NameIs(m.name, name) {
			return m.value
		}
	}
	return nil
}

// Fields are the sources of one item in order of precedence. A field comes from the first
// source that has it in the right form. A value of a wrong form causes a warning and
// counts as missing.
type Fields struct {
	Sources []Source
	Dir
	// Reject receives each fault and the name of its field; nil: faults are only logged.
	Reject func(field, fault string)
}

// Pick returns the first value of a field that ok accepts, or nil. It reports the values
// before it; must describes the right form.
func (f *Fields) Pick(name, must string, ok func(json.RawMessage) bool) json.RawMessage {
	return f.pick(Ignored, name, must, ok)
}

// pick is [Fields.Pick] with the topic of the messages.
func (f *Fields) pick(topic Topic, name, must string, ok func(json.RawMessage) bool) json.RawMessage {
	for i := range f.Sources {
		if v := f.Sources[i].get(name); v != nil {
			if ok(v) {
				return v
			}
			f.complain(topic, &f.Sources[i], v, name, must)
		}
	}
	return nil
}

// Complain reports that a value of a wrong form is ignored.
func (f *Fields) Complain(s *Source, value json.RawMessage, name, must string) {
	f.complain(Ignored, s, value, name, must)
}

// complain is [Fields.Complain] with the topic of the message.
func (f *Fields) complain(topic Topic, s *Source, value json.RawMessage, name, must string) {
	f.fault(name, name+": not "+must,
		Message{Topic: topic, At: s.At(value), Text: fmt.Sprintf("%q must be %s; ignored", name, must)})
}

// fault reports a fault of a field. A discovered item loses the field with a warning, and
// a registration fails.
func (f *Fields) fault(field, fault string, warning Message) {
	if f.Reject != nil {
		f.Reject(field, fault)
		return
	}
	warning.Level = mcp.Warning
	f.Dir.Log(warning)
}

var kindNames = [...]string{
	rawjson.Bool: "true or false", rawjson.String: "a string", rawjson.Array: "an array", rawjson.Object: "an object",
}

// OfKind returns a field whose value is of a kind, or nil.
func (f *Fields) OfKind(name string, kind rawjson.Kind) json.RawMessage {
	return f.ofKind(Ignored, name, kind)
}

// ofKind is [Fields.OfKind] with the topic of the messages.
func (f *Fields) ofKind(topic Topic, name string, kind rawjson.Kind) json.RawMessage {
	return f.pick(topic, name, kindNames[kind], func(v json.RawMessage) bool { return rawjson.KindOf(v) == kind })
}

// Text returns a field that is a string.
func (f *Fields) Text(name string) (text string, given bool) {
	return rawjson.Text(f.OfKind(name, rawjson.String))
}

// Seconds returns a field that is a positive integer, or a string of digits, as a
// number. It returns nil if there is no such field.
func (f *Fields) Seconds(name string) json.RawMessage {
	v := f.Pick(name, "a positive integer", func(v json.RawMessage) bool { return rawjson.PositiveInt(v) > 0 })
	if v == nil {
		return nil
	}
	return rawjson.Int(rawjson.PositiveInt(v))
}

// Limit is [Fields.Seconds] for a field that may be 0, which means no limit.
func (f *Fields) Limit(name string) json.RawMessage {
	isZero := func(v json.RawMessage) bool {
		text, ok := rawjson.Text(v)
		if !ok {
			text = string(v)
		}
		return text != "" && strings.Trim(text, "0") == ""
	}
	v := f.Pick(name, "a positive integer or 0", func(v json.RawMessage) bool {
		return isZero(v) || rawjson.PositiveInt(v) > 0
	})
	if v == nil {
		return nil
	}
	return rawjson.Int(rawjson.PositiveInt(v))
}

// putExtras writes the unknown members of the first source, once each and in the order of
// the source. It leaves out "$schema", which only editors use.
func (f *Fields) putExtras(b *rawjson.Builder, known []string) {
	var added []string
	for _, m := range f.Sources[0].members {
		if m.isOneOf(known) || m.isOneOf(added) || rawjson.NameIs(m.name, "$schema") {
			continue
		}
		name, _ := rawjson.Text(m.name)
		added = append(added, name)
		b.Name(name).Raw(rawjson.Normal(f.Sources[0].Last(name)))
	}
}
