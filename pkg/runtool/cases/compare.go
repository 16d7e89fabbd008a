package cases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamljson"
	"mcp-bash/pkg/json/yamltext"
	"mcp-bash/pkg/wire/mcp"
)

// An Outcome is the end of a call, as the client gets it.
type Outcome struct {
	Result json.RawMessage // the result of tools/call, or nil
	Error  json.RawMessage // the error with its code and message, or nil
}

// OutcomeOf returns the outcome of [tool.Tools.Call]. ok is false if the call failed for a reason that no client gets.
func OutcomeOf(result *tool.Result, err error) (o Outcome, ok bool) {
	if err == nil {
		return Outcome{Result: result.AppendJSON(nil, mcp.Extra{})}, true
	}
	refusal, ok := errors.AsType[*mcp.Error](err)
	if ok {
		o.Error = refusal.AppendJSON(nil)
	}
	return o, ok
}

// Text returns the texts of the result, or the message of the error, without white space at the end.
func (o *Outcome) Text() string {
	if o.Error != nil {
		return trim(rawjson.TextOf(o.Error, "message"))
	}
	var list []string
	for item := range rawjson.Elements(rawjson.Get(o.Result, "content")) {
		if rawjson.TextOf(item, "type") == "text" {
			list = append(list, strings.TrimSuffix(rawjson.TextOf(item, "text"), "\n"))
		}
	}
	return trim(strings.Join(list, "\n"))
}

// trim returns a text without the white space at its end, which comparisons ignore.
func trim(text string) string { return strings.TrimRight(text, " \t\r\n") }

// Structured returns the structured content, or nil.
func (o *Outcome) Structured() json.RawMessage { return rawjson.Get(o.Result, "structuredContent") }

// Failed reports whether the outcome is an error.
func (o *Outcome) Failed() bool {
	return o.Error != nil || rawjson.True(rawjson.Get(o.Result, "isError"))
}

// A Difference is a part of an outcome that is not as the case expects.
type Difference struct {
	What string // such as "text", or "structured/message"
	Want string // "" if What names it
	Got  string
}

// Compare returns the differences between an outcome and the expectation.
func (e *Expectation) Compare(o *Outcome) (list []Difference) {
	text := o.Text()
	switch {
	case e.Error == nil && o.Failed():
		return []Difference{{What: "the call failed", Got: errorText(o)}}
	case e.Error != nil && !o.Failed():
		list = append(list, Difference{What: "the call did not fail", Got: text})
	case rawjson.KindOf(e.Error) == rawjson.Object && o.Error == nil:
		list = append(list, Difference{What: "error", Want: string(e.Error), Got: "a result that is an error: " + text})
	case rawjson.KindOf(e.Error) == rawjson.Object:
		list = subset(list, e.Error, o.Error, "error")
	}
	if e.Text != nil && trim(*e.Text) != text {
		list = append(list, Difference{"text", trim(*e.Text), text})
	}
	for _, part := range e.Contains {
		if !strings.Contains(text, part) {
			list = append(list, Difference{"text does not contain", part, text})
		}
	}
	for _, re := range e.Matches {
		if !re.MatchString(text) {
			list = append(list, Difference{"text does not match", re.String(), text})
		}
	}
	if e.Structured != nil {
		list = subset(list, e.Structured, o.Structured(), "structured")
	}
	return list
}

func errorText(o *Outcome) string {
	if o.Error == nil {
		return o.Text()
	}
	return fmt.Sprintf("error %s: %s", rawjson.Get(o.Error, "code"), o.Text())
}

// subset appends the differences between a value and the part of it that is wanted. at is the place of the value.
func subset(list []Difference, want, got json.RawMessage, at string) []Difference {
	differs := func() []Difference { return append(list, Difference{at, string(want), shown(got)}) }
	if pattern, ok := patternOf(want); ok {
		text, isText := rawjson.Text(got)
		if re, err := regexp.Compile(pattern); err != nil || !isText || !re.MatchString(text) {
			return append(list, Difference{at + " does not match", pattern, shown(got)})
		}
		return list
	}
	if rawjson.KindOf(want) != rawjson.KindOf(got) || got == nil {
		return differs()
	}
	switch rawjson.KindOf(want) {
	case rawjson.Object:
		for name, member := range rawjson.All(want) {
			list = subset(list, member, rawjson.Get(got, name), at+"/"+name)
		}
	case rawjson.Array:
		wanted, others := slices.Collect(rawjson.Elements(want)), slices.Collect(rawjson.Elements(got))
		if len(wanted) != len(others) {
			return differs()
		}
		for i, e := range wanted {
			list = subset(list, e, others[i], fmt.Sprintf("%s/%d", at, i))
		}
	default:
		if !rawjson.Equal(want, got) && !sameNumber(string(want), string(got)) {
			return differs()
		}
	}
	return list
}

// sameNumber reports whether two numbers are equal, and one of them is not written as an integer.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y && strings.ContainsAny(a+b, ".eE")
}

func shown(v json.RawMessage) string {
	if v == nil {
		return "(missing)"
	}
	return string(v)
}

// Accept returns the members of an expectation that must change so that an outcome is as expected. ok is false if
// others would have to change.
func (e *Expectation) Accept(o *Outcome) (changed []rawjson.Member, ok bool) {
	want := *e
	if text := o.Text(); e.Text != nil && trim(*e.Text) != text {
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
