package tool

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/ansi"
	"mcp-bash/pkg/wire/mcp"
)

// Sizes for large results, in bytes.
const (
	inMemory  = 60 << 10 // output that is larger goes to a file
	largeHead = 2 << 10  // of the part that the client gets
	largeTail = 1 << 10
)

// largeBound returns the size from which the output of the call is stored, or 0 for never.
func (c *call) largeBound() int {
	p := c.tools.project
	switch {
	case c.tools.Results == nil || c.entry.outputSchema != nil:
		return 0
	case c.entry.large != nil:
		return rawjson.PositiveInt(c.entry.large)
	case p.Calls.LargeResult >= 0:
		return p.Calls.LargeResult
	}
	return p.Meta.LargeResult
}

// spoolLarge makes the output of a script go to a file once it is large.
func (c *call) spoolLarge(spec *script.Spec) {
	if c.bound = c.largeBound(); c.bound == 0 || rawjson.TextOf(c.entry.output, "type") == "binary" {
		c.bound = 0
		return
	}
	c.bound = min(c.bound, spec.StdoutLimit)
	spec.StdoutLimit = c.maxStdout()
	spec.SpoolFrom = max(inMemory, c.bound)
	spec.Spool = func() (w io.Writer, err error) {
		c.spool, err = c.tools.Results.NewFile()
		if err == nil && !c.entry.keepColors && c.entry.output == nil {
			c.plain = &ansi.Writer{To: c.spool}
			return c.plain, nil
		}
		return c.spool, err
	}
}

// maxStdout returns the limit of standard output.
func (c *call) maxStdout() int {
	limit := c.tools.project.Calls.MaxStdout
	if c.bound > 0 {
		limit = max(limit, c.tools.Results.MaxBytes())
	}
	return limit
}

// storeLarge replaces an output that is too large by its first and last lines. It returns the link to the whole output,
// or nil. JSON is replaced by a sentence, because a part of it would not be JSON.
func (c *call) storeLarge(res *script.Result) (link json.RawMessage) {
	file, stored := c.spool, false
	defer func() {
		if file != nil && !stored {
			file.Close()
		}
	}()
	if c.plain != nil && c.plain.Flush() != nil {
		res.Stdout, res.Cause = nil, script.ErrStdoutLimit
		return nil
	}
	limit := c.tools.project.Calls.MaxStdout
	if res.Cause != nil {
		if file != nil {
			res.Stdout = fileEnd(file, maxPartial)
		}
		return nil
	}
	if file == nil {
		if len(res.Stdout) <= c.bound {
			return nil
		}
		var err error
		if file, err = c.tools.Results.NewFile(); err != nil {
			return nil
		}
		if _, err = file.Write(res.Stdout); err != nil {
			return nil
		}
	}
	size := file.Size()
	head, tail := make([]byte, min(size, largeHead)), fileEnd(file, largeTail)
	n, _ := file.ReadAt(head, 0)
	head = head[:n]
	isText := media.IsText(head[:results.Cut(head, len(head))])
	first := rawjson.SkipSpace(head)
	isObject := len(first) > 0 && first[0] == '{'
	if int64(len(res.Stdout)) < size && size <= int64(limit) && (!isText || isObject) {
		res.Stdout = fileEnd(file, size)
	}
	if !isText || isObject && callToolResult(soleValue(res.Stdout)) != nil { // LR-4, LR-5
		if res.Stdout == nil || int64(len(res.Stdout)) < size {
			res.Stdout, res.Cause = nil, script.ErrStdoutLimit
		}
		return nil
	}
	last := bytes.TrimSpace(tail)
	isJSON := len(last) > 0 && (isObject && last[len(last)-1] == '}' ||
		len(first) > 0 && first[0] == '[' && last[len(last)-1] == ']')
	head, tail = wholeLines(head, tail, c.bound)
	from, to := int64(len(head)), size-int64(len(tail))
	before, _ := file.Lines(0, from)
	lines, _ := file.Lines(from, to)
	mimeType := "text/plain"
	if isJSON {
		mimeType = "application/json"
	}
	uri, err := c.tools.Results.Add(file, mimeType)
	if err != nil {
		res.Stdout, res.Cause = nil, script.ErrStdoutLimit
		return nil
	}
	stored = true
	also := ""
	if c.tools.project.SearchesResults() {
		also = ". Search it with the tool " + SearchTool
	}
	if isJSON {
		res.Stdout = fmt.Appendf(nil, "The output is %d bytes of JSON, and is not sent whole. Read it with resources/read "+
			"from %s, in parts: %s?unit=bytes&offset=0&limit=16384%s", size, uri, uri, also)
	} else {
		text := bytes.Clone(head)
		text = fmt.Appendf(text, "[%d lines (%d bytes) left out. Read them with resources/read, in parts: "+
			"%s?offset=%d&limit=200 (lines, counted from 0)%s]\n", lines, to-from, uri, before, also)
		res.Stdout = append(text, tail...)
	}
	return linkItem(uri, c.entry.name+" output", mimeType,
		"The whole output. Add ?offset=N&limit=N for lines, and &unit=bytes for bytes.", int(size))
}

func fileEnd(file *results.File, size int64) []byte {
	end := make([]byte, min(file.Size(), size))
	n, _ := file.ReadAt(end, file.Size()-int64(len(end)))
	return end[:n]
}

// wholeLines limits the beginning and the end of an output to a size, at the ends of lines if
// possible, and otherwise between characters.
func wholeLines(head, tail []byte, size int) (first, last []byte) {
	head = head[:min(len(head), size/3*2)]
	head = head[:results.Cut(head, len(head))]
	if at := bytes.LastIndexByte(head, '\n'); at >= 0 {
		head = head[:at+1]
	}
	tail = tail[max(0, len(tail)-size/3):]
	if at := bytes.IndexByte(tail[:max(0, len(tail)-1)], '\n'); at >= 0 {
		tail = tail[at+1:]
	} else {
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	return head, tail
}

// SearchTool is the name of the server's own tool that searches stored results. A tool of the project with this name
// replaces it.
const SearchTool = "result_search"

//go:embed search.json
var searchText []byte

// SearchListed returns the entry of [SearchTool] in tools/list.
var SearchListed = sync.OnceValue(func() json.RawMessage { return rawjson.AppendCompact(nil, searchText) })

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
		return nil, refusal.Because(cmp.Or(refusal.Cause, mcp.CausePolicy))
	}
	arguments := r.Arguments
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	schema := rawjson.Get(SearchListed(), "inputSchema")
	if r.Event != nil {
		r.Event.Draft.Schema = schema
	}
	s, _, err := t.schemas.Get(schema)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", toolFailed).WithReason(err)
	}
	if violations := s.Check(arguments); violations != nil {
		result := violated("validation_error", "Invalid arguments: ", violations)
		result.name = r.Name
		r.fail(mcp.CauseArguments)
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
	result := &Result{texts: [][]byte{[]byte(text)}}
	switch refusal, ok := errors.AsType[*mcp.Error](err); {
	case ctx.Err() != nil:
		return nil, errCancelled
	case ok && refusal.Code == mcp.CodeNotFound:
		r.fail(mcp.CauseNotFound)
		result = failure("not_found",
			"No such result. It has expired, or belongs to another session. Call the tool again.", nil)
	case ok && refusal.Code == mcp.CodeInvalidParams:
		r.fail(mcp.CauseArguments)
		result = failure("validation_error", refusal.Message, nil)
	case err != nil:
		return nil, err
	}
	result.name, result.noMeta = r.Name, true
	return result, nil
}

// wholeNumber returns a number that a schema has found to be whole and not negative, or 0.
func wholeNumber(v json.RawMessage) int64 {
	n, _ := strconv.ParseFloat(string(v), 64)
	return int64(min(n, 1<<53))
}
