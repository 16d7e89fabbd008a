package tool

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// parseProgress parses a line of the progress stream. ok is false for other lines than progress
// notifications (P-1102, T-102).
func parseProgress(line []byte) (p Progress, ok bool) {
	params, ok := notification(line, "notifications/progress")
	if !ok {
		return p, false
	}
	rawjson.Each(params, func(name, value json.RawMessage) {
		switch string(name) {
		case `"progress"`:
			p.Value = value
		case `"total"`:
			p.Total = value
		case `"message"`:
			p.Message = value
		}
	})
	if rawjson.KindOf(p.Value) != rawjson.Number {
		return p, false
	}
	if rawjson.KindOf(p.Total) != rawjson.Number {
		p.Total = nil
	}
	if rawjson.KindOf(p.Message) != rawjson.String {
		p.Message = nil
	}
	return p, true
}

func parseLog(line []byte) (m LogMessage, ok bool) {
	params, ok := notification(line, "notifications/message")
	if !ok {
		return m, false
	}
	m.Level = mcp.Info
	rawjson.Each(params, func(name, value json.RawMessage) {
		switch string(name) {
		case `"level"`:
			text, _ := rawjson.Text(value)
			m.Level, _ = mcp.ParseLevel(text)
		case `"logger"`:
			m.Logger = nil
			if rawjson.KindOf(value) == rawjson.String {
				m.Logger = value
			}
		case `"data"`:
			m.Data = rawjson.Normal(value)
		}
	})
	if m.Data == nil {
		m.Data = json.RawMessage("null")
	}
	return m, true
}

func notification(line []byte, method string) (params json.RawMessage, ok bool) {
	v, err := rawjson.Check(line)
	if err != nil || rawjson.KindOf(v) != rawjson.Object || rawjson.Get(v, "id") != nil ||
		rawjson.TextOf(v, "method") != method {
		return nil, false
	}
	params = rawjson.Get(v, "params")
	return params, rawjson.KindOf(params) == rawjson.Object
}
