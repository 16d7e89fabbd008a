package item

import (
	"errors"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

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
		return Fault{Place{File: file, Line: 1, Column: 1}, err.Error()} // all of it
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
