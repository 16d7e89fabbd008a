package item

import "mcp-bash/pkg/json/rawjson"

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
