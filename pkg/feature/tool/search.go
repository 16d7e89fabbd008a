package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// SearchTool is the name of the server's own tool that searches stored results (LR-30). A tool of
// the project with this name replaces it.
const SearchTool = "result_search"

// SearchListed returns the entry of [SearchTool] in tools/list.
func SearchListed() json.RawMessage {
	return json.RawMessage(`{"name":"` + SearchTool + `","title":"Search a stored result",` +
		`"description":"Searches the complete output of an earlier tool call that was too long to be sent. ` +
		`The result of that call names the URI. Each line of the answer is LINE:OFFSET:TEXT, with line numbers and ` +
		`byte offsets from 0. Without a pattern, the answer is the text from the offset.",` +
		`"inputSchema":` + searchSchema + `,"annotations":{"readOnlyHint":true,"openWorldHint":false}}`)
}

const searchSchema = `{"type":"object","properties":{` +
	`"uri":{"type":"string","description":"The URI that begins with mcpbash-result://"},` +
	`"pattern":{"type":"string","maxLength":1024,"description":"Text to find in a line"},` +
	`"regex":{"type":"boolean","description":"The pattern is a regular expression (RE2)","default":false},` +
	`"ignoreCase":{"type":"boolean","default":false},` +
	`"offset":{"type":"integer","minimum":0,"description":"The byte where to begin","default":0},` +
	`"limit":{"type":"integer","minimum":1,"maximum":500,"description":"How many matches at most","default":50}},` +
	`"required":["uri"],"additionalProperties":false}`

// searches reports whether a call is one of [SearchTool].
func (t *Tools) searches(ctx context.Context, name string) bool {
	if name != SearchTool || t.Results == nil || !t.project.SearchesResults() {
		return false
	}
	own, err := t.Find(ctx, name)
	return own == nil && err == nil
}

// search answers a call of [SearchTool]. The same rules as for other tools decide who may call it.
func (c *call) search(ctx context.Context) (*Result, error) {
	t, r := c.tools, c.request
	if err := t.project.Permit(t.Caller, auth.Tool, r.Name, r.Name); err != nil {
		return nil, err
	}
	if _, refusal := t.Policy.Check(ctx, r.Name, SearchListed(), c.identity()); refusal != nil {
		return nil, refusal
	}
	arguments := r.Arguments
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	s, _, err := t.schemas.Get(json.RawMessage(searchSchema))
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", toolFailed).WithReason(err)
	}
	refused := func(kind, message string) *Result {
		result := failure(kind, message, nil)
		result.name, result.noMeta = r.Name, true
		return result
	}
	if violations := s.Check(arguments); violations != nil {
		result := violated("validation_error", "Invalid arguments: ", violations)
		result.name = r.Name
		return result, nil
	}
	text, err := t.Results.Search(ctx, results.Query{
		URI:        rawjson.TextOf(arguments, "uri"),
		Pattern:    rawjson.TextOf(arguments, "pattern"),
		Regexp:     rawjson.True(rawjson.Get(arguments, "regex")),
		IgnoreCase: rawjson.True(rawjson.Get(arguments, "ignoreCase")),
		Offset:     wholeNumber(rawjson.Get(arguments, "offset")),
		Limit:      int(wholeNumber(rawjson.Get(arguments, "limit"))),
	})
	var refusal *mcp.Error
	switch {
	case ctx.Err() != nil:
		return nil, errCancelled
	case errors.As(err, &refusal) && refusal.Code == mcp.CodeNotFound:
		return refused("not_found",
			"No such result. It has expired, or belongs to another session. Call the tool again."), nil
	case errors.As(err, &refusal) && refusal.Code == mcp.CodeInvalidParams:
		return refused("validation_error", refusal.Message), nil
	case err != nil:
		return nil, err
	}
	return &Result{name: r.Name, texts: [][]byte{[]byte(text)}, noMeta: true}, nil
}

// wholeNumber returns a number that a schema has found to be whole and not negative, or 0.
func wholeNumber(v json.RawMessage) int64 {
	n, _ := strconv.ParseFloat(string(v), 64)
	return int64(min(n, 1<<53))
}
