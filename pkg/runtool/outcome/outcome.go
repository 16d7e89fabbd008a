// Package outcome has the end of a tool's call, as test cases describe it.
package outcome

import (
	"encoding/json"
	"errors"
	"strings"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// An Outcome is the end of a call, as the client gets it.
type Outcome struct {
	Result json.RawMessage // the result of tools/call, or nil
	Error  json.RawMessage // the error with its code and message, or nil
}

// Of returns the outcome of [tool.Tools.Call]. ok is false if the call failed for a reason that no client gets.
func Of(result *tool.Result, err error) (o Outcome, ok bool) {
	if err == nil {
		return Outcome{Result: result.AppendJSON(nil, mcp.Extra{})}, true
	}
	refusal, ok := errors.AsType[*mcp.Error](err)
	if ok {
		o.Error = refusal.AppendJSON(nil)
	}
	return o, ok
}

// Text returns the texts of the result, or the message of the error, without white space at the end.
func (o *Outcome) Text() string {
	if o.Error != nil {
		return Trim(rawjson.TextOf(o.Error, "message"))
	}
	var list []string
	for item := range rawjson.Elements(rawjson.Get(o.Result, "content")) {
		if rawjson.TextOf(item, "type") == "text" {
			list = append(list, strings.TrimSuffix(rawjson.TextOf(item, "text"), "\n"))
		}
	}
	return Trim(strings.Join(list, "\n"))
}

// Trim returns a text without the white space at its end, which no comparison regards.
func Trim(text string) string { return strings.TrimRight(text, " \t\r\n") }

// Structured returns the structured content, or nil.
func (o *Outcome) Structured() json.RawMessage { return rawjson.Get(o.Result, "structuredContent") }

// Failed reports whether the outcome is an error.
func (o *Outcome) Failed() bool {
	return o.Error != nil || rawjson.True(rawjson.Get(o.Result, "isError"))
}
