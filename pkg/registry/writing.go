package registry

import (
	"fmt"

	"mcp-bash/pkg/rawjson"
)

// A writing is where somebody wrote something down: what messages about it name.
type writing struct {
	file string // "tools/x/tool.meta.json"
	part string // of the file: "tools[1]", "" for all of it
	text []byte // of the file; nil: lines in it mean nothing to anybody
}

// at names the place where a piece of the text begins, as compilers do: file,
// line and column, and the part of the file where that helps.
func (w *writing) at(piece []byte) string {
	where := w.file
	if line, column, ok := rawjson.Position(w.text, piece); ok {
		where = fmt.Sprintf("%s:%d:%d", w.file, line, column)
	}
	if w.part != "" {
		where += ": " + w.part
	}
	return where
}
