package tool

import (
	"bytes"
	"encoding/json"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
)

// LongRunning describes the calls of a long-running tool (TASK-1).
type LongRunning struct {
	// After is the time after which a call returns a handle to a client without tasks. 0: the default.
	After time.Duration
	// AsksFirst means that questions before the first report of progress are asked before the call becomes
	// a task (TASK-11).
	AsksFirst bool
}

// ParseLongRunning returns the declaration of a registry entry, and reports whether the tool is
// long-running.
func ParseLongRunning(item json.RawMessage) (l LongRunning, ok bool) {
	if !bytes.Contains(item, []byte(`"longRunning"`)) {
		return l, false
	}
	v := rawjson.Get(item, "longRunning")
	if rawjson.KindOf(v) == rawjson.Object {
		l.After = settings.Seconds(rawjson.PositiveInt(rawjson.Get(v, "after")))
		l.AsksFirst = rawjson.True(rawjson.Get(v, "asksFirst"))
		return l, true
	}
	return l, rawjson.True(v)
}
