package kinds

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
)

const longForm = `true, false or an object with "after", a positive integer, and "asksFirst", true or false`

// longRunning returns the field longRunning, or nil for tools that are not long-running (TASK-1).
func longRunning(s *item.Input) json.RawMessage {
	v := s.Pick("longRunning", longForm, isLongRunning)
	if string(v) == "false" {
		return nil
	}
	return v
}

func isLongRunning(v json.RawMessage) bool {
	if rawjson.KindOf(v) != rawjson.Object {
		return rawjson.KindOf(v) == rawjson.Bool
	}
	for name, member := range rawjson.All(v) {
		switch {
		case name == "after" && rawjson.KindOf(member) == rawjson.Number && rawjson.PositiveInt(member) > 0:
		case name == "asksFirst" && rawjson.KindOf(member) == rawjson.Bool:
		default:
			return false
		}
	}
	return true
}
