package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/rawjson"
)

// A File is the text of a JSON file that belongs to somebody else: an object, in which
// a path of names leads to a member. What is not changed keeps its bytes, comments and
// order; what is added is laid out as its neighbours are.
type File struct {
	text    []byte
	dialect Dialect
	plain   *plainText
}

// Open reads the text of a file. One without any value is an empty object.
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

// root is where the object begins; at the end of the text where there is none.
func (f *File) root() int { return rawjson.SpaceEnd(f.plain.json, 0) }

// members returns those members of the object at a byte that have a name, all for "",
// and where the object's closing bracket stands.
func (f *File) members(at int, name string) ([]span, int) {
	return (&Document{f.plain.json}).spans(at, name)
}

// A way is how far a path leads.
type way struct {
	found  int  // how many of its names there are
	in     int  // where the object begins that the last of them is in
	member span // the last of them
	object int  // where the object begins that the next name is missing in
}

// follow looks for a path. A name on it that is there twice, or whose value is no
// object where one has to be, is an error.
func (f *File) follow(path []string) (w way, err error) {
	w.object = f.root()
	for i, name := range path {
		if w.object == len(f.text) {
			return w, nil
		}
		if f.text[w.object] != '{' {
			return w, fmt.Errorf("%s is no object", strings.Join(path[:i], "."))
		}
		list, _ := f.members(w.object, name)
		switch len(list) {
		case 0:
			return w, nil
		case 1:
		default:
			return w, fmt.Errorf("line %d: %s is there twice", lineAt(f.text, list[1].start),
				strings.Join(path[:i+1], "."))
		}
		w = way{i + 1, w.object, list[0], list[0].from}
	}
	return w, nil
}

// Get returns the value of a member without its comments, nil when there is none.
func (f *File) Get(path ...string) (json.RawMessage, error) {
	w, err := f.follow(path)
	if err != nil || w.found < len(path) {
		return nil, err
	}
	return bytes.Clone(f.plain.json[w.member.from:w.member.to]), nil
}

// Set gives a member a value, and makes it and the objects on the way where they are
// missing.
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

// oneLine reports whether the value of a member is on one line in a text of several.
func (f *File) oneLine(m span) bool {
	return bytes.IndexByte(f.text[m.from:m.to], '\n') < 0 && (f.text[m.from] != '{' || !f.beginsLine(m))
}

// wrapped is a value as the last of a path of members, each in an object of its own.
func wrapped(path []string, value json.RawMessage) json.RawMessage {
	for _, name := range slices.Backward(path) {
		var b rawjson.Builder
		value = b.Object().Name(name).Raw(value).End().Bytes()
	}
	return value
}

// insert appends a member to the object at a byte.
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
	before, behind := ",", "" // what is set for the member before, and for ours
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
	// Comments that end the line of the member before stay with it.
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

// Remove deletes a member, if it is there. Comments around it stay.
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
	case begins: // the line break before it goes, too
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

// closed closes the object at a byte at once if there is only white space in it.
func closed(text []byte, at int) []byte {
	end := rawjson.SpaceEnd(text, at+1)
	if end == len(text) || text[end] != '}' {
		return text
	}
	return slices.Concat(text[:at+1], text[end:])
}

// replace takes a text in place of the present one if they differ only in the value of a
// path.
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

// sameBut reports whether two files differ only in the value of a path.
func (f *File) sameBut(other *File, path []string) bool {
	a, b := f.root(), other.root()
	for i, name := range path {
		if a == len(f.text) {
			return true // there was nothing
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

// name is the name of a member as it is written.
func (f *File) name(s span) []byte { return f.text[s.start:stringEnd(f.text, s.start)] }

// commaAfter is where the comma stands that follows a value, -1 for none.
func (f *File) commaAfter(at int) int {
	if at = rawjson.SpaceEnd(f.plain.commas, at); at < len(f.text) && f.plain.commas[at] == ',' {
		return at
	}
	return -1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// lineStart is where the line of a byte begins.
func (f *File) lineStart(at int) int { return bytes.LastIndexByte(f.text[:at], '\n') + 1 }

// beginsLine reports whether there is nothing but blanks before a member in its line,
// which is not the first.
func (f *File) beginsLine(m span) bool {
	start := f.lineStart(m.start)
	return start > 0 && len(bytes.Trim(f.text[start:m.start], " \t")) == 0
}

// indentAt is what the line of a byte begins with.
func (f *File) indentAt(at int) string {
	line := f.text[f.lineStart(at):at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is what each level is indented by: as much as the first member is.
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

// lineBreak is how lines end.
func (f *File) lineBreak() []byte {
	if nl := bytes.IndexByte(f.text, '\n'); nl > 0 && f.text[nl-1] == '\r' {
		return []byte("\r\n")
	}
	return []byte("\n")
}

// isOneLine reports whether all of the object is on one line.
func (f *File) isOneLine() bool { return bytes.IndexByte(bytes.TrimSpace(f.plain.json), '\n') < 0 }

// isCompact reports whether there is no white space between values.
func (f *File) isCompact() bool {
	return rawjson.IsCompact(bytes.TrimSpace(f.plain.json))
}

// layOut writes a value over several lines, those after the first with an indent, or
// inline.
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
