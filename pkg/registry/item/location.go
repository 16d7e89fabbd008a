package item

import (
	"fmt"

	"mcp-bash/pkg/rawjson"
)

// A Location is where an author wrote something, as messages name it.
type Location struct {
	File string // "tools/x/tool.meta.json"
	Part string // of the file: "tools[1]", "" for all of it
	Text []byte // of the file; nil: lines in it mean nothing to anybody
}

// At returns where a piece of the text begins, as compilers write it: file, line
// and column, and the part of the file where that helps.
func (w *Location) At(piece []byte) string {
	where := w.File
	if line, column, ok := rawjson.Position(w.Text, piece); ok {
		where = fmt.Sprintf("%s:%d:%d", w.File, line, column)
	}
	if w.Part != "" {
		where += ": " + w.Part
	}
	return where
}
