package item

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

const (
	MetadataSuffix = folder.MetadataSuffix
	MaxMetadata    = 1 << 20
)

// MetadataNames returns the possible names of a file's metadata file in order of precedence.
func MetadataNames(file string) []string {
	if base := Stem(file); base != file {
		return []string{file + MetadataSuffix, base + MetadataSuffix}
	}
	return []string{file + MetadataSuffix}
}

// Stem returns a file name without its last extension.
func Stem(file string) string {
	if at := strings.LastIndexByte(file, '.'); at > 0 {
		return file[:at]
	}
	return file
}

// ParseMetadata returns the object in a metadata file, and the text that the object is a piece of. A byte order mark,
// and carriage returns anywhere, are ignored, as in the Bash edition.
func ParseMetadata(text []byte) (object json.RawMessage, whole []byte, err error) {
	text = bytes.TrimPrefix(text, rawjson.ByteOrderMark)
	object, err = ParseObject(text)
	if err != nil && bytes.IndexByte(text, '\r') >= 0 {
		clean := bytes.ReplaceAll(text, []byte{'\r'}, nil)
		if object, errClean := ParseObject(clean); errClean == nil {
			return object, clean, nil
		}
	}
	return object, text, err
}

// IsDescribed reports whether a file in a directory has a metadata file or an inline header.
func IsDescribed(dir folder.Dir, file string) bool {
	read := func(name string, limit int) []byte {
		f, err := dir.OpenFile(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		text := make([]byte, min(f.Stamp.Size, uint64(limit)))
		n, _ := f.Read(text)
		return text[:n]
	}
	for _, name := range MetadataNames(file) {
		if _, _, err := ParseMetadata(read(name, MaxMetadata)); err == nil {
			return true
		}
	}
	head, _ := Head(read(file, MaxHead))
	header, _ := ParseHeader(head)
	return header != nil
}

// The part of a file that may contain an inline header.
const (
	headLines = 10
	MaxHead   = 64 << 10
	FirstHead = 4 << 10 // read first; usually enough
)

var headerMark = []byte("mcp:")

// Head returns the lines of a text that can contain a header. whole reports whether the
// text contains all of these lines.
func Head(text []byte) (head []byte, whole bool) {
	end := 0
	for range headLines {
		at := bytes.IndexByte(text[end:], '\n')
		if at < 0 {
			return text, len(text) >= MaxHead
		}
		end += at + 1
	}
	return text[:end], true
}

// ParseHeader returns the object after the first "mcp:" that is followed by an object on
// the same line, or nil. If the only candidates are invalid objects, the error is a
// [*SyntaxError].
func ParseHeader(head []byte) (object json.RawMessage, err error) {
	start := 0 // of the rest of the line
	for line := range bytes.Lines(head) {
		next := start + len(line)
		for {
			at := bytes.Index(line, headerMark)
			if at < 0 {
				break
			}
			start += at + len(headerMark)
			line = line[at+len(headerMark):]
			text := rawjson.SkipSpace(line)
			if len(text) == 0 || text[0] != '{' {
				continue
			}
			object, _, wrong := rawjson.Next(bytes.TrimRight(text, "\r\n"))
			if wrong == nil && nestingOf(object) <= MaxNesting {
				return object, nil
			}
			if err == nil {
				err = headerError(head, start+len(line)-len(text), wrong)
			}
		}
		start = next
	}
	return nil, err
}

func headerError(head []byte, offset int, wrong error) error {
	fault := &rawjson.SyntaxError{Offset: offset, Reason: errNesting.Error()}
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(wrong, &syntax):
		fault.Offset, fault.Reason = offset+syntax.Offset, syntax.Reason
	case wrong != nil:
		fault.Reason = wrong.Error()
	}
	return syntaxError(fault, head)
}

// MaxNesting is the maximum depth of arrays and objects in metadata. Registry files are
// indented by two bytes for each level. Without this limit, a small file could become a
// registry file of gigabytes.
const MaxNesting = 100

var errNesting = fmt.Errorf("nested more than %d levels deep", MaxNesting)

// A SyntaxError is the place and the reason of invalid JSON in a text.
type SyntaxError struct {
	Line, Column int // from 1
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

func syntaxError(err *rawjson.SyntaxError, text []byte) *SyntaxError {
	line, column := err.Position(text)
	return &SyntaxError{line, column, err.Reason}
}

// CheckJSON returns the JSON value of a text. nesting is the maximum depth of the value.
// The error of invalid JSON is a [*SyntaxError].
func CheckJSON(text []byte, nesting int) (json.RawMessage, error) {
	value, err := rawjson.Check(text)
	if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
		return nil, syntaxError(syntax, text)
	}
	if err == nil && nestingOf(value) > nesting {
		err = errNesting
	}
	return value, err
}

// ParseObject returns the JSON object of a text.
func ParseObject(text []byte) (json.RawMessage, error) {
	object, err := CheckJSON(text, MaxNesting)
	if err == nil && rawjson.KindOf(object) != rawjson.Object {
		err = ErrNoObject
	}
	return object, err
}

var ErrNoObject = errors.New("not a JSON object")

func nestingOf(text []byte) int {
	depth, deepest := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// IsEmptyText reports whether a value is not a string, or is an empty string.
func IsEmptyText(v json.RawMessage) bool {
	text, isText := rawjson.Text(v)
	return !isText || text == ""
}

// A Topic is the subject of a message. Programs compare topics, never texts.
type Topic uint8

// The topics of messages.
const (
	Other           Topic = iota
	Unavailable           // the kind has no list; the check returns an error too
	Malformed             // metadata cannot be read
	Declaration           // the declaration of a tool cannot be read, so the tool does not run
	ClientName            // some clients refuse the name
	UnusableName          // the name cannot be used, so the item is left out
	MissingName           // there is no name, so the item is left out
	Duplicate             // a name or id is taken
	UnknownKey            // a key resembles a known one
	Misplaced             // a tool is not in a separate directory
	BadSchema             // a schema, or a part of one, is left out
	BadIcons              // icons have a wrong form
	UnreadableIcon        // the file of an icon cannot be used
	Ignored               // a value has a wrong form and is ignored
	LeftOut               // a part of a value, or an entry of register.json, is left out
	BothURIs              // uri and uriTemplate are given
	MissingVariable       // a uriTemplate has no variable
	MissingURI            // there is neither a file nor a URI
	MissingText           // a prompt has no text
)

// A Message is a log message about a project. Messages are comparable.
type Message struct {
	Level  mcp.Level
	Topic  Topic
	At     Place
	Text   string // without the place
	Logged string // the whole line; "": the place and the text
}

// Line returns the message as it is logged.
func (m *Message) Line() string {
	if m.Logged != "" {
		return m.Logged
	}
	return m.At.before(m.Text)
}

// A Place is a position in a file of a project.
type Place struct {
	File         string // "tools/x/tool.meta.json"; "" for none
	Line, Column int    // from 1; 0: all of the file
	Part         string // of the file: "tools[1]"; "" for all of it
}

// String returns the place in the form of compilers: file, line, column and part.
func (p Place) String() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Part != "" {
		where += ": " + p.Part
	}
	return where
}

func (p Place) before(text string) string {
	if p == (Place{}) {
		return text
	}
	return p.String() + ": " + text
}

// A Fault is the reason why a file cannot be read, and the place of the cause. The zero value means no fault.
type Fault struct {
	At     Place
	Reason string
}

func (f Fault) String() string { return f.At.before(f.Reason) }

// FaultIn returns the fault for an error of a file.
func FaultIn(file string, err error) Fault {
	var syntax *SyntaxError
	switch {
	case errors.As(err, &syntax):
		return Fault{Place{File: file, Line: syntax.Line, Column: syntax.Column}, syntax.Reason}
	case errors.Is(err, ErrNoObject), errors.Is(err, errNesting), errors.Is(err, rawjson.ErrInvalidUTF8):
		return Fault{Place{File: file, Line: 1, Column: 1}, err.Error()} // the whole file
	}
	return Fault{Place{File: file}, err.Error()}
}

// MaxDepth is the maximum depth of directories below a content directory.
const MaxDepth = 16

// A Location is a file, or a part of a file, as messages name it.
type Location struct {
	File string // "tools/x/tool.meta.json"
	Part string // of the file: "tools[1]", "" for all of it
	Text []byte // of the file; nil: messages name no line
}

// At returns where a piece of the text begins.
func (w *Location) At(piece []byte) Place {
	at := Place{File: w.File, Part: w.Part}
	if line, column, ok := rawjson.Position(w.Text, piece); ok {
		at.Line, at.Column = line, column
	}
	return at
}
