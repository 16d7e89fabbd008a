package tool

import (
	"encoding/json"

	"mcp-bash/pkg/rawjson"
)

// An entry is what a call needs of a tool's registry entry (registry section 4).
type entry struct {
	item            json.RawMessage // all of it
	name, path      string
	timeout         int // seconds, 0 when absent
	maxTimeout      int
	timeoutHint     string
	progressExtends bool
	inputSchema     json.RawMessage
	outputSchema    json.RawMessage // nil when absent or null
	validate        json.RawMessage // true, false or nil
}

func parseEntry(item json.RawMessage) entry {
	e := entry{item: item}
	rawjson.Each(item, func(name, value json.RawMessage) {
		switch string(name) {
		case `"name"`:
			e.name, _ = rawjson.Text(value)
		case `"path"`:
			e.path, _ = rawjson.Text(value)
		case `"timeoutSecs"`:
			e.timeout = rawjson.PositiveInt(value)
		case `"maxTimeoutSecs"`:
			e.maxTimeout = rawjson.PositiveInt(value)
		case `"timeoutHint"`:
			e.timeoutHint, _ = rawjson.Text(value)
		case `"progressExtendsTimeout"`:
			e.progressExtends = rawjson.True(value)
		case `"inputSchema"`:
			e.inputSchema = value
		case `"outputSchema"`:
			if !rawjson.Absent(value) {
				e.outputSchema = value
			}
		case `"validateInput"`:
			e.validate = value
		}
	})
	return e
}

// validates reports whether arguments and output are checked in full: the
// first given of the environment, the tool and the project decides (T-11).
func (e *entry) validates(setting string, project bool) bool {
	switch {
	case setting != "":
		return setting == "true"
	case rawjson.KindOf(e.validate) == rawjson.Bool:
		return rawjson.True(e.validate)
	}
	return project
}
