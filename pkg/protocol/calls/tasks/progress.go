package tasks

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
)

// withToken returns parameters with a progress token. Without one of the client, it is the task's own.
func withToken(params mcp.Params) mcp.Params {
	meta := params.Meta()
	if calls.ProgressToken(meta) != nil {
		return params
	}
	return params.WithMeta(rawjson.With(meta, "progressToken", rawjson.Quote("task")))
}

// progress is the last report of a script.
type progress struct{ value, total, message string } // JSON, JSON and text; "": none

// maxText limits the texts of a task, and maxNumber its numbers, in bytes. Longer numbers are left out.
const (
	maxText   = 1 << 10
	maxNumber = 32
)

// progressOf returns the report in the parameters of a notification.
func progressOf(params json.RawMessage) (p progress) {
	number := func(name string) string {
		if v := rawjson.Get(params, name); len(v) <= maxNumber {
			return string(v)
		}
		return ""
	}
	return progress{number("progress"), number("total"), cut(rawjson.TextOf(params, "message"), maxText)}
}

// text returns the report for people, or "".
func (p *progress) text() string {
	text := p.value
	if p.total != "" {
		text += " of " + p.total
	}
	if p.message != "" {
		text += ": " + p.message
	}
	return text
}

// cut returns the beginning of a text, at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n -= len("…")
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}
