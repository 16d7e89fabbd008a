package cases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamljson"
	"mcp-bash/pkg/json/yamltext"
	"mcp-bash/pkg/runtool/outcome"
)

// Accept returns the members of an expectation that must change so that an outcome is as expected. ok is false if
// others would have to change.
func (e *Expectation) Accept(o *outcome.Outcome) (changed []rawjson.Member, ok bool) {
	want := *e
	if text := o.Text(); e.Text != nil && outcome.Trim(*e.Text) != text {
		want.Text = &text
		if strings.Contains(text, "\n") {
			text += "\n"
		}
		changed = append(changed, rawjson.Member{Name: "text", Value: rawjson.Quote(text)})
	}
	for _, part := range []struct {
		name string
		want *json.RawMessage
		got  json.RawMessage
	}{{"structured", &want.Structured, o.Structured()}, {"error", &want.Error, o.Error}} {
		if *part.want != nil && part.got != nil && subset(nil, *part.want, part.got, "") != nil {
			*part.want = accepted(*part.want, part.got)
			changed = append(changed, rawjson.Member{Name: part.name, Value: *part.want})
		}
	}
	return changed, len(changed) > 0 && len(want.Compare(o)) == 0
}

// accepted returns the part of a value that has the members of another one.
func accepted(want, got json.RawMessage) json.RawMessage {
	if got == nil || subset(nil, want, got, "") == nil {
		return want
	}
	var b rawjson.Builder
	switch kind := rawjson.KindOf(want); {
	case kind != rawjson.KindOf(got):
	case kind == rawjson.Object:
		b.Object()
		for name, member := range rawjson.All(want) {
			if other := rawjson.Get(got, name); other != nil {
				b.Name(name).Raw(accepted(member, other))
			}
		}
		return b.End().Bytes()
	case kind == rawjson.Array:
		wanted, others := slices.Collect(rawjson.Elements(want)), slices.Collect(rawjson.Elements(got))
		if len(wanted) == len(others) {
			b.Array()
			for i := range others {
				b.Raw(accepted(wanted[i], others[i]))
			}
			return b.End().Bytes()
		}
	}
	return got
}

// errForm is the error for a case that has to be changed by a person.
var errForm = errors.New("write expect and its members on separate lines, so that they can be updated")

// Rewrite returns the text of a file in which members of an expectation have other values. The rest of the text stays
// as it is. line is the line of the case.
func Rewrite(text []byte, line int, changed []rawjson.Member) ([]byte, error) {
	d, err := documentAt(text, line)
	if err != nil {
		return nil, err
	}
	place := func(m rawjson.Member) int { return d.Line("/expect/" + m.Name) }
	changed = slices.Clone(changed)
	slices.SortFunc(changed, func(a, b rawjson.Member) int { return cmp.Compare(place(b), place(a)) })
	lines := strings.SplitAfter(string(text), "\n")
	for _, m := range changed {
		if lines, err = withMember(lines, place(m)-1, m); err != nil {
			return nil, err
		}
	}
	fresh := []byte(strings.Join(lines, ""))
	if d, err = documentAt(fresh, line); err != nil {
		return nil, errForm
	}
	for _, m := range changed {
		if !rawjson.Equal(rawjson.Path(d.JSON, "expect", m.Name), m.Value) {
			return nil, errForm
		}
	}
	return fresh, nil
}

func documentAt(text []byte, line int) (*yamljson.Document, error) {
	documents, err := yamljson.Parse(bytes.TrimPrefix(text, rawjson.ByteOrderMark), 0)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(documents, func(d yamljson.Document) bool { return d.Line("") == line })
	if at < 0 {
		return nil, errors.New("the file has changed")
	}
	return &documents[at], nil
}

// withMember returns the lines of a file with another value of the member that begins in one of them.
func withMember(lines []string, at int, m rawjson.Member) ([]string, error) {
	indent := indentOf(lines[at])
	if !strings.HasPrefix(lines[at][indent:], m.Name+":") {
		return nil, errForm
	}
	end := at + 1
	for i := at + 1; i < len(lines); i++ {
		content := strings.TrimSpace(lines[i])
		isItem := indentOf(lines[i]) == indent && (content == "-" || strings.HasPrefix(content, "- "))
		if content != "" && indentOf(lines[i]) <= indent && !isItem && !strings.HasPrefix(content, "#") {
			break
		}
		if content != "" && (isItem || indentOf(lines[i]) > indent) {
			end = i + 1
		}
	}
	var b rawjson.Builder
	fresh := yamltext.AppendMembers(nil, b.Object().Name(m.Name).Raw(m.Value).End().Bytes(), indent)
	return slices.Concat(lines[:at], []string{string(fresh)}, lines[end:]), nil
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
