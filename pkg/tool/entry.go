package tool

import (
	"encoding/json"
	"strconv"

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
			e.timeout = seconds(value)
		case `"maxTimeoutSecs"`:
			e.maxTimeout = seconds(value)
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

// seconds reads a positive integer; anything else counts as absent (protocol
// P-1700).
func seconds(v json.RawMessage) int {
	text := string(v)
	if s, ok := rawjson.Text(v); ok {
		text = s
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
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
