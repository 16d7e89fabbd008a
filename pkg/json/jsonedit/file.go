package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// A File is the text of another program's JSON file. It is an object in which a path of
// names leads to a member. Unchanged parts keep their bytes, comments and order. New parts
// are laid out like their neighbours.
type File struct {
	text    []byte
	dialect Dialect
	plain   *plainText
}

// Open parses the text of a file. A text without a value is an empty object.
func (d Dialect) Open(text []byte) (*File, error) {
	f := &File{text: text, dialect: d}
	var err error
	if f.plain, err = d.plain(text); err != nil {
		return nil, err
	}
	if at := f.root(); at < len(text) && text[at] != '{' {
		return nil, errors.New("not a JSON object")
	}
	return f, nil
}

// Bytes returns the text.
func (f *File) Bytes() []byte { return f.text }

// root returns the offset of the object, or the end of the text if there is no object.
func (f *File) root() int { return rawjson.SpaceEnd(f.plain.json, 0) }

// members returns the members with a name of the object at an offset, or all members for "".
// It also returns the offset of the closing bracket.
func (f *File) members(at int, name string) ([]span, int) {
	return (&Document{f.plain.json}).spans(at, name)
}

// A way is the result of following a path.
type way struct {
	found  int  // the number of names that were found
	in     int  // the offset of the object with the last member that was found
	member span // the last member that was found
	object int  // the offset of the object that lacks the next name
}

// follow follows a path. It is an error if a name of the path is repeated, or if its value
// must be an object and is not.
func (f *File) follow(path []string) (w way, err error) {
	w.object = f.root()
	for i, name := range path {
		if w.object == len(f.text) {
			return w, nil
		}
		if f.text[w.object] != '{' {
			return w, fmt.Errorf("%s is not an object", strings.Join(path[:i], "."))
		}
		list, _ := f.members(w.object, name)
		switch len(list) {
		case 0:
			return w, nil
		case 1:
		default:
			return w, fmt.Errorf("line %d: %s is repeated", lineAt(f.text, list[1].start),
				strings.Join(path[:i+1], "."))
		}
		w = way{i + 1, w.object, list[0], list[0].from}
	}
	return w, nil
}

// Get returns the value of a member without comments, or nil.
func (f *File) Get(path ...string) (json.RawMessage, error) {
	w, err := f.follow(path)
	if err != nil || w.found < len(path) {
		return nil, err
	}
	return bytes.Clone(f.plain.json[w.member.from:w.member.to]), nil
}

// Set sets the value of a member. It creates the member and the objects on its path if they
// are missing.
func (f *File) Set(value json.RawMessage, path ...string) error {
	w, err := f.follow(path)
	if err != nil {
		return err
	}
	var text []byte
	switch {
	case w.found == len(path):
		m := w.member
		text = slices.Concat(f.text[:m.from], f.layOut(value, f.indentAt(m.start), f.oneLine(m)), f.text[m.to:])
	case w.object == len(f.text):
		text = f.text
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = slices.Concat(text, f.lineBreak())
		}
		text = slices.Concat(text, f.layOut(wrapped(path, value), "", false), f.lineBreak())
	default:
		text = f.insert(w.object, path[w.found], wrapped(path[w.found+1:], value))
	}
	return f.replace(text, value, path)
}

// oneLine reports whether the value of a member is on one line in a text of several lines.
func (f *File) oneLine(m span) bool {
	return bytes.IndexByte(f.text[m.from:m.to], '\n') < 0 && (f.text[m.from] != '{' || !f.beginsLine(m))
}

// wrapped returns a value nested in an object for each name of a path.
func wrapped(path []string, value json.RawMessage) json.RawMessage {
	for _, name := range slices.Backward(path) {
		var b rawjson.Builder
		value = b.Object().Name(name).Raw(value).End().Bytes()
	}
	return value
}

// insert appends a member to the object at an offset.
func (f *File) insert(at int, name string, value json.RawMessage) []byte {
	list, end := f.members(at, "")
	text, br := f.text, string(f.lineBreak())
	outer := f.indentAt(at)
	member := func(indent string, inline bool) []byte {
		colon := ": "
		if inline && f.isCompact() {
			colon = ":"
		}
		return slices.Concat(rawjson.Quote(name), []byte(colon), f.layOut(value, indent, inline))
	}
	if len(list) == 0 {
		inner := text[at+1 : end]
		to := at + 1 + len(bytes.TrimRight(inner, " \t\r\n"))
		if at != f.root() && f.isOneLine() {
			return slices.Concat(text[:to], member("", true), text[to:])
		}
		indent := outer + f.unit()
		if bytes.IndexByte(text[to:end], '\n') >= 0 {
			return slices.Concat(text[:to], []byte(br+indent), member(indent, false), text[to:])
		}
		return slices.Concat(text[:to], []byte(br+indent), member(indent, false), []byte(br+outer), text[end:])
	}
	last := list[len(list)-1]
	comma := f.commaAfter(last.to)
	after := last.to
	before, behind := ",", "" // added before and after the new member
	if comma >= 0 {
		after, before, behind = comma+1, "", ","
	}
	if !f.beginsLine(last) {
		space := " "
		if f.isCompact() {
			space = ""
		}
		return slices.Concat(text[:after], []byte(before+space), member("", true), []byte(behind), text[after:])
	}
	// Comments at the end of the previous member's line stay with it.
	place := after
	if nl := bytes.IndexByte(f.plain.commas[after:end], '\n'); nl >= 0 {
		if place = after + nl; text[place-1] == '\r' {
			place--
		}
	}
	indent := f.indentAt(last.start)
	return slices.Concat(text[:after], []byte(before), text[after:place], []byte(br+indent), member(indent, false),
		[]byte(behind), text[place:])
}

// Remove deletes a member if it exists. Comments around it are kept.
func (f *File) Remove(path ...string) error {
	w, err := f.follow(path)
	if err != nil || w.found < len(path) {
		return err
	}
	list, _ := f.members(w.in, "")
	i := slices.IndexFunc(list, func(s span) bool { return s.start == w.member.start })
	m := list[i]
	from, to := m.start, m.to
	comma := f.commaAfter(m.to)
	begins := f.beginsLine(m)
	switch {
	case begins: // also delete the line break before it
		from = bytes.LastIndexByte(f.text[:m.start], '\n')
		if from > 0 && f.text[from-1] == '\r' {
			from--
		}
	case comma >= 0 && i < len(list)-1 && len(bytes.TrimSpace(f.text[to:comma])) == 0:
		for to = comma + 1; to < list[i+1].start && isBlank(f.text[to]); to++ {
		}
		comma = -1
	default:
		for ; isBlank(f.text[from-1]); from-- {
		}
	}
	cuts := []cut{{from, to}}
	switch {
	case comma >= 0:
		cuts = append(cuts, cut{comma, comma + 1})
	case to == m.to && i > 0:
		before := f.commaAfter(list[i-1].to)
		cuts = append(cuts, cut{before, before + 1})
	}
	text := without(f.text, cuts)
	if len(list) == 1 {
		text = closed(text, w.in)
	}
	return f.replace(text, nil, path)
}

type cut struct{ from, to int }

func without(text []byte, cuts []cut) []byte {
	slices.SortFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(out, text[at:c.from]...)
		at = c.to
	}
	return append(out, text[at:]...)
}

// closed removes the white space from an empty object at an offset.
func closed(text []byte, at int) []byte {
	end := rawjson.SpaceEnd(text, at+1)
	if end == len(text) || text[end] != '}' {
		return text
	}
	return slices.Concat(text[:at+1], text[end:])
}

// replace accepts a new text if it differs from the present one only in the value at a path.
func (f *File) replace(text []byte, value json.RawMessage, path []string) error {
	edited, err := f.dialect.Open(text)
	if err == nil {
		var got json.RawMessage
		if got, err = edited.Get(path...); err == nil && (got == nil) != (value == nil) || err == nil &&
			!bytes.Equal(rawjson.Normal(got), rawjson.Normal(value)) || err == nil && !f.sameBut(edited, path) {
			err = errUnusual
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be changed without changing more: %w", strings.Join(path, "."), err)
	}
	*f = *edited
	return nil
}

var errUnusual = errors.New("an unusual layout")

// sameBut reports whether two files differ only in the value at a path.
func (f *File) sameBut(other *File, path []string) bool {
	a, b := f.root(), other.root()
	for i, name := range path {
		if a == len(f.text) {
			return true // there was no object
		}
		listA, _ := f.members(a, "")
		listB, _ := other.members(b, "")
		atA, atB := -1, -1
		for k, s := range listA {
			if rawjson.NameIs(f.name(s), name) {
				atA = k
			}
		}
		for k, s := range listB {
			if rawjson.NameIs(other.name(s), name) {
				atB = k
			}
		}
		restA, restB := listA, listB
		if atA >= 0 {
			restA = slices.Delete(slices.Clone(listA), atA, atA+1)
		}
		if atB >= 0 {
			restB = slices.Delete(slices.Clone(listB), atB, atB+1)
		}
		if !slices.EqualFunc(restA, restB, func(x, y span) bool {
			return bytes.Equal(f.name(x), other.name(y)) &&
				bytes.Equal(f.plain.json[x.from:x.to], other.plain.json[y.from:y.to])
		}) {
			return false
		}
		switch {
		case atA < 0 || i == len(path)-1:
			return true
		case atB < 0:
			return false
		}
		a, b = listA[atA].from, listB[atB].from
		if f.text[a] != '{' || other.text[b] != '{' {
			return false
		}
	}
	return true
}

// name returns the name of a member as it is written, in quotes.
func (f *File) name(s span) []byte { return f.text[s.start:stringEnd(f.text, s.start)] }

// commaAfter returns the offset of the comma after a value, or -1.
func (f *File) commaAfter(at int) int {
	if at = rawjson.SpaceEnd(f.plain.commas, at); at < len(f.text) && f.plain.commas[at] == ',' {
		return at
	}
	return -1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// lineStart returns the beginning of the line with an offset.
func (f *File) lineStart(at int) int { return bytes.LastIndexByte(f.text[:at], '\n') + 1 }

// beginsLine reports whether only blanks precede a member in its line, and the line is not
// the first.
func (f *File) beginsLine(m span) bool {
	start := f.lineStart(m.start)
	return start > 0 && len(bytes.Trim(f.text[start:m.start], " \t")) == 0
}

// indentAt returns the blanks at the beginning of the line with an offset.
func (f *File) indentAt(at int) string {
	line := f.text[f.lineStart(at):at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns the indentation of one level, taken from the first member.
func (f *File) unit() string {
	if at := f.root(); at < len(f.text) {
		if list, _ := f.members(at, ""); len(list) > 0 && f.beginsLine(list[0]) {
			if indent := f.indentAt(list[0].start); indent != "" {
				return indent
			}
		}
	}
	return "  "
}

// lineBreak returns the line break of the text.
func (f *File) lineBreak() []byte {
	if nl := bytes.IndexByte(f.text, '\n'); nl > 0 && f.text[nl-1] == '\r' {
		return []byte("\r\n")
	}
	return []byte("\n")
}

// isOneLine reports whether the whole object is on one line.
func (f *File) isOneLine() bool { return bytes.IndexByte(bytes.TrimSpace(f.plain.json), '\n') < 0 }

// isCompact reports whether the text has no white space between values.
func (f *File) isCompact() bool {
	return rawjson.IsCompact(bytes.TrimSpace(f.plain.json))
}

// layOut formats a value, inline or over several lines. Lines after the first begin with
// indent.
func (f *File) layOut(value json.RawMessage, indent string, inline bool) []byte {
	if inline {
		return rawjson.AppendCompact(nil, value)
	}
	var out []byte
	for i, line := range strings.Split(string(rawjson.AppendIndent(nil, value, 0)), "\n") {
		if i > 0 {
			out = append(append(out, f.lineBreak()...), indent...)
		}
		text := strings.TrimLeft(line, " ")
		out = append(out, strings.Repeat(f.unit(), (len(line)-len(text))/2)...)
		out = append(out, text...)
	}
	return out
}
