// Package editors opens the files of clients. It is separate, so that programs that only print entries do not contain
// the parsers.
package editors

import (
	"mcp-bash/pkg/clients/internal/format"
	"mcp-bash/pkg/clients/internal/tomledit"
	"mcp-bash/pkg/clients/internal/yamledit"
	"mcp-bash/pkg/json/jsonedit"
)

// Open parses the text of a file. kind is a format of clients.json. If commas is true, JSON can have trailing commas.
// If list is true, a missing parent of entries is created as a list.
func Open(kind string, commas, list bool, text []byte) (format.Editor, error) {
	switch kind {
	case "TOML":
		return tomledit.Open(text)
	case "YAML":
		return yamledit.Open(text, list)
	}
	return jsonedit.Dialect{Comments: kind != "JSON", TrailingCommas: commas}.Open(text)
}
