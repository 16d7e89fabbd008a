package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"mcp-bash/pkg/json/rawjson"
)

// A File is the text of another program's JSON file. It is an object in which a path of
// names leads to a member. Unchanged parts keep their bytes, comments and order. New parts
// are laid out like their neighbours.
type File struct {
	mark    []byte // a byte order mark, which stays, or nil
	text    []byte
	dialect Dialect
	root    hujson.Value
}

// Open parses the text of a file. A text without a value is an empty object.
func (d Dialect) Open(text []byte) (*File, error) {
	var mark []byte
	if rest, ok := bytes.CutPrefix(text, rawjson.ByteOrderMark); ok {
		mark, text = rawjson.ByteOrderMark, rest
	}
	root, err := d.parse(text)
	if err != nil {
		return nil, err
	}
	if root.Value != nil && root.Value.Kind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	return &File{mark, text, d, root}, nil
}

// Bytes returns the text.
func (f *File) Bytes() []byte {
	if f.mark == nil {
		return f.text
	}
	return slices.Concat(f.mark, f.text)
}

type location struct {
	found int            // the number of names that were found
	owner *hujson.Object // the object with the last member that was found
	at    int            // the index of that member
	value *hujson.Value  // the value of that member, or the root
}

// follow follows a path. It is an error if a name of the path is repeated, or if its value
// must be an object and is not.
func (f *File) follow(path []string) (l location, err error) {
	l.value = &f.root
	for i, name := range path {
		if l.value.Value == nil {
			return l, nil
		}
		object, ok := l.value.Value.(*hujson.Object)
		if !ok {
			return l, fmt.Errorf("%s is not an object", strings.Join(path[:i], "."))
		}
		at := -1
		for k, m := range object.Members {
			switch {
			case !rawjson.NameIs(m.Name.Value.(hujson.Literal), name):
			case at >= 0:
				return l, fmt.Errorf("line %d: %s is repeated", lineAt(f.text, m.Name.StartOffset),
					strings.Join(path[:i+1], "."))
			default:
				at = k
			}
		}
		if at < 0 {
			return l, nil
		}
		l = location{i + 1, object, at, &object.Members[at].Value}
	}
	return l, nil
}

// Get returns the value of a member without comments and white space, or nil.
func (f *File) Get(path ...string) (json.RawMessage, error) {
	l, err := f.follow(path)
	if err != nil || l.found < len(path) {
		return nil, err
	}
	return minimal(*l.value), nil
}

func minimal(v hujson.Value) []byte {
	v = v.Clone()
	v.Minimize()
	return v.Pack()
}

// Set sets the value of a member. It creates the member and the objects on its path if they
// are missing.
func (f *File) Set(value json.RawMessage, path ...string) error {
	l, err := f.follow(path)
	if err != nil {
		return err
	}
	switch {
	case l.found == len(path):
		name := l.owner.Members[l.at].Name
		old := f.text[l.value.StartOffset:l.value.EndOffset]
		inline := bytes.IndexByte(old, '\n') < 0 && (old[0] != '{' || !beginsLine(name))
		l.value.Value = f.layOut(value, f.indentAt(name.StartOffset), inline)
	case l.value.Value == nil:
		if f.root.BeforeExtra = f.text; len(f.text) > 0 && f.text[len(f.text)-1] != '\n' {
			f.root.BeforeExtra = concat(f.text, f.lineBreak())
		}
		f.root.Value, f.root.AfterExtra = f.layOut(rawjson.Nested(value, path...), "", false), []byte(f.lineBreak())
	default:
		f.insert(l.value, path[l.found], rawjson.Nested(value, path[l.found+1:]...))
	}
	return f.commit(path)
}

func (f *File) insert(v *hujson.Value, name string, value json.RawMessage) {
	object := v.Value.(*hujson.Object)
	br, outer := f.lineBreak(), f.indentAt(v.StartOffset)
	var m hujson.ObjectMember
	m.Name.Value = hujson.Literal(rawjson.Quote(name))
	m.Value.BeforeExtra = []byte(" ")
	indent, inline := outer+f.unit(), false
	if len(object.Members) == 0 {
		comments := bytes.TrimRight(object.AfterExtra, " \t\r\n")
		space := object.AfterExtra[len(comments):]
		inline = v != &f.root && bytes.IndexByte(f.text[f.root.StartOffset:f.root.EndOffset], '\n') < 0
		m.Name.BeforeExtra = comments
		if !inline {
			m.Name.BeforeExtra = concat(comments, br+indent)
			if bytes.IndexByte(space, '\n') < 0 {
				space = []byte(br + outer)
			}
		}
		object.AfterExtra = space
	} else {
		last := object.Members[len(object.Members)-1]
		if last.Value.AfterExtra != nil { // a trailing comma
			m.Value.AfterExtra = []byte{}
		}
		if inline = !beginsLine(last.Name); inline {
			m.Name.BeforeExtra = []byte(" ")
		} else {
			// Comments at the end of the previous member's line stay with it.
			at := lineEnd(object.AfterExtra)
			indent = f.indentAt(last.Name.StartOffset)
			m.Name.BeforeExtra = concat(object.AfterExtra[:at], br+indent)
			object.AfterExtra = object.AfterExtra[at:]
		}
	}
	if inline && bytes.Equal(minimal(f.root), bytes.TrimSpace(f.text)) { // a text without white space
		m.Value.BeforeExtra = nil
		m.Name.BeforeExtra = bytes.TrimRight(m.Name.BeforeExtra, " ")
	}
	m.Value.Value = f.layOut(value, indent, inline)
	object.Members = append(object.Members, m)
}

// lineEnd returns the offset of the first line break outside of comments, or 0.
func lineEnd(space hujson.Extra) int {
	for i := 0; i < len(space); i++ {
		switch {
		case space[i] == '\n' && i > 0 && space[i-1] == '\r':
			return i - 1
		case space[i] == '\n':
			return i
		case space[i] == '/':
			i += commentEnd(space[i:])
		}
	}
	return 0
}

// Remove deletes a member if it exists. Comments around it are kept.
func (f *File) Remove(path ...string) error {
	l, err := f.follow(path)
	if err != nil || l.found < len(path) {
		return err
	}
	members := l.owner.Members
	m, isLast := members[l.at], l.at == len(members)-1
	before, between := m.Name.BeforeExtra, m.Value.AfterExtra // between the value and the comma
	after := &l.owner.AfterExtra
	if !isLast {
		after = &members[l.at+1].Name.BeforeExtra
	}
	switch {
	case beginsLine(m.Name): // also delete the line break before it
		before = bytes.TrimSuffix(before[:bytes.LastIndexByte(before, '\n')], []byte("\r"))
	case !isLast && len(bytes.TrimSpace(between)) == 0:
		between, *after = nil, bytes.TrimLeft(*after, " \t")
	default:
		before = bytes.TrimRight(before, " \t")
	}
	if isLast && l.at > 0 {
		previous := &members[l.at-1].Value
		switch {
		case m.Value.AfterExtra == nil: // the previous comma is deleted
			before = concat(previous.AfterExtra, string(before))
			previous.AfterExtra = nil
		case previous.AfterExtra == nil: // the previous comma becomes a trailing comma
			previous.AfterExtra = []byte{}
		}
	}
	*after = slices.Concat(before, between, *after)
	l.owner.Members = slices.Delete(members, l.at, l.at+1)
	if len(members) == 1 && len(bytes.TrimSpace(*after)) == 0 {
		*after = nil
	}
	return f.commit(path)
}

var errUnusual = errors.New("an unusual layout")

// commit makes the edited tree the text of the file. It rejects an edit whose text does not
// have the values of the tree, such as one that moved a value into a comment.
func (f *File) commit(path []string) error {
	edited, err := f.dialect.Open(f.root.Pack())
	f.root.Minimize()
	if err == nil && !bytes.Equal(minimal(edited.root), f.root.Pack()) {
		err = errUnusual
	}
	if err != nil {
		f.root, _ = f.dialect.parse(f.text)
		return fmt.Errorf("%s cannot be changed without changing more: %w", strings.Join(path, "."), err)
	}
	edited.mark = f.mark
	*f = *edited
	return nil
}

func concat(a hujson.Extra, b string) hujson.Extra { return slices.Concat(a, hujson.Extra(b)) }

// beginsLine reports whether only blanks precede a name in its line, and the line is not
// the first.
func beginsLine(name hujson.Value) bool {
	at := bytes.LastIndexByte(name.BeforeExtra, '\n')
	return at >= 0 && len(bytes.Trim(name.BeforeExtra[at:], " \t\n")) == 0
}

func (f *File) indentAt(at int) string {
	line := f.text[bytes.LastIndexByte(f.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns the indentation of one level, taken from the first member.
func (f *File) unit() string {
	if root, ok := f.root.Value.(*hujson.Object); ok && len(root.Members) > 0 && beginsLine(root.Members[0].Name) {
		if indent := f.indentAt(root.Members[0].Name.StartOffset); indent != "" {
			return indent
		}
	}
	return "  "
}

func (f *File) lineBreak() string {
	if nl := bytes.IndexByte(f.text, '\n'); nl > 0 && f.text[nl-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// layOut formats a value, inline or over several lines. Lines after the first begin with
// indent.
func (f *File) layOut(value json.RawMessage, indent string, inline bool) hujson.ValueTrimmed {
	text := rawjson.AppendCompact(nil, value)
	if !inline {
		lines := strings.Split(string(rawjson.AppendIndent(nil, value, 0)), "\n")
		for i, line := range lines[1:] {
			rest := strings.TrimLeft(line, " ")
			lines[i+1] = indent + strings.Repeat(f.unit(), (len(line)-len(rest))/2) + rest
		}
		text = []byte(strings.Join(lines, f.lineBreak()))
	}
	v, _ := hujson.Parse(text) // JSON is valid
	return v.Value
}

// A Dialect determines which extensions of JSON a program accepts.
type Dialect struct{ Comments, TrailingCommas bool }

// Limits on a text. The parser recurses without a limit, and a value takes about 500 bytes of memory.
const (
	maxDepth  = 10_000
	maxValues = 500_000
)

// parse parses a text. The value of a text without JSON is nil.
func (d Dialect) parse(text []byte) (root hujson.Value, err error) {
	if !utf8.Valid(text) {
		return root, errors.New("invalid UTF-8")
	}
	ended := text
	if last := text[bytes.LastIndexByte(text, '\n')+1:]; bytes.Contains(last, []byte("//")) {
		ended = append(bytes.Clone(text), '\n') // the parser requires a line break after a comment
	}
	if err := checkSize(text); err != nil {
		return root, err
	}
	if hujson.Extra(ended).IsValid() {
		root.BeforeExtra = ended
	} else if root, err = hujson.Parse(ended); err != nil {
		return root, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	root.AfterExtra = root.AfterExtra[:max(0, len(root.AfterExtra)-len(ended)+len(text))]
	return root, d.check(text, &root)
}

// checkSize checks the number of values and their nesting before the text is parsed.
func checkSize(text []byte) error {
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = rawjson.StringEnd(text, i) - 1
		case '/':
			i += commentEnd(text[i:])
		case '[', '{':
			depth++
			values++
		case ',':
			values++
		case ']', '}':
			depth--
		}
		if depth > maxDepth || values > maxValues {
			return fmt.Errorf("more than %d values, or values nested deeper than %d levels", maxValues, maxDepth)
		}
	}
	return nil
}

// commentEnd returns the offset of the last byte of the comment that a text begins with, or 0.
// The line break after a comment is not a part of it.
func commentEnd(text []byte) int {
	mark, last := "\n", 1
	switch {
	case bytes.HasPrefix(text, []byte("/*")):
		mark, last = "*/", 3
	case !bytes.HasPrefix(text, []byte("//")):
		return 0
	}
	at := bytes.Index(text[2:], []byte(mark))
	if at < 0 {
		return len(text) - 1
	}
	return at + last
}

// check returns an error with the line of an extension that the dialect lacks.
func (d Dialect) check(text []byte, root *hujson.Value) error {
	for v := range root.All() {
		if err := d.checkSpace(text, v.BeforeExtra, v.StartOffset-len(v.BeforeExtra)); err != nil {
			return err
		}
		if err := d.checkSpace(text, v.AfterExtra, v.EndOffset); err != nil {
			return err
		}
		var last *hujson.Value
		var inside hujson.Extra // the space before the closing bracket
		switch v := v.Value.(type) {
		case *hujson.Object:
			if inside = v.AfterExtra; len(v.Members) > 0 {
				last = &v.Members[len(v.Members)-1].Value
			}
		case *hujson.Array:
			if inside = v.AfterExtra; len(v.Elements) > 0 {
				last = &v.Elements[len(v.Elements)-1]
			}
		}
		if err := d.checkSpace(text, inside, v.EndOffset-1-len(inside)); err != nil {
			return err
		}
		if last != nil && last.AfterExtra != nil && !d.TrailingCommas {
			return fmt.Errorf("line %d: a comma before a closing bracket, which is not accepted",
				lineAt(text, last.EndOffset+len(last.AfterExtra)))
		}
	}
	return nil
}

// checkSpace checks the white space and comments at an offset.
func (d Dialect) checkSpace(text []byte, space hujson.Extra, at int) error {
	if d.Comments || space.IsStandard() {
		return nil
	}
	at += bytes.IndexByte(space, '/')
	return fmt.Errorf("line %d: a comment, where only plain JSON is accepted", lineAt(text, at))
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:offset], []byte("\n"))
}
