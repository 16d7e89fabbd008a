package completion

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/wire/mcp"
)

// An output is the parsed output of a script (T-630).
type output struct {
	values []json.RawMessage // strings, as written; at most the limit
	total  int               // -1 if unknown
	more   bool
	next   int    // offset of the next page; -1 if unknown
	cursor string // cursor of the script for the next page
}

// A noJSONError is the error for output that is not JSON. Such output means no suggestions (T-630).
type noJSONError struct{ output []byte }

func (e *noJSONError) Error() string {
	const longest = 60 // characters
	text := []rune(strings.TrimSpace(strings.ToValidUTF8(string(e.output[:min(len(e.output), 4*longest)]), "\uFFFD")))
	if len(text) > longest {
		text = append(text[:longest], '…')
	}
	return fmt.Sprintf("the output is not JSON, so nothing is suggested; it begins with %q; "+
		`print an array such as ["a","b"]`, string(text))
}

// parseOutput returns the values of a page. repeated reports that the page before had the same output. Then the script
// ignores the offset, and its output has the values of all pages (T-632).
func parseOutput(stdout []byte, limit, offset int, repeated bool) (output, error) {
	o := output{total: -1, next: -1}
	if len(rawjson.SkipSpace(stdout)) == 0 {
		return o, nil
	}
	doc, err := rawjson.Check(stdout)
	if err != nil {
		return o, &noJSONError{stdout}
	}
	list := doc
	switch rawjson.KindOf(doc) {
	case rawjson.Array:
	case rawjson.Object:
		if list = rawjson.Get(doc, "suggestions"); !rawjson.Absent(list) && rawjson.KindOf(list) != rawjson.Array {
			return o, errors.New("suggestions must be an array")
		}
		if err := o.setExtras(doc); err != nil {
			return o, err
		}
	default:
		return o, errors.New("the output is neither an array nor an object")
	}
	n, first := 0, 0
	if repeated {
		first = offset
		o.more, o.next, o.cursor = false, -1, ""
	}
	for e := range rawjson.Elements(list) {
		if rawjson.KindOf(e) != rawjson.String {
			return o, errors.New("a suggestion is not a string")
		}
		if n++; n > first && n-first <= limit {
			o.values = append(o.values, e)
		}
	}
	if rawjson.KindOf(doc) == rawjson.Array && (offset == 0 || repeated) {
		o.total = n
	}
	if n-first > limit { // T-631: the values beyond the limit come first on the next page
		o.more, o.next = true, -1
	}
	return o, nil
}

func (o *output) setExtras(doc json.RawMessage) error {
	o.more = rawjson.True(rawjson.Get(doc, "hasMore"))
	if n, ok := offsetOf(rawjson.Get(doc, "next")); ok {
		o.next = n
	}
	if n, ok := offsetOf(rawjson.Get(doc, "total")); ok {
		o.total = n
	}
	if o.cursor = rawjson.TextOf(doc, "nextCursor"); o.cursor == "" {
		o.cursor = rawjson.TextOf(doc, "cursor")
	}
	if !isOwnCursor(o.cursor) {
		return errors.New("the cursor is too long or contains NUL")
	}
	o.more = o.more || o.cursor != ""
	return nil
}

// offsetOf reads a number, or a string of digits (T-632).
func offsetOf(v json.RawMessage) (int, bool) {
	text := string(v)
	if s, ok := rawjson.Text(v); ok {
		text = s
	}
	n, ok := settings.Digits(text)
	return min(n, maxOffset), ok
}

// A Result has the suggested values.
type Result struct {
	values []json.RawMessage // strings
	total  int               // -1 if unknown
	next   string            // cursor of the next page, or ""
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (r *Result) Size() int {
	n := 128 + len(r.next)
	for _, v := range r.values {
		n += len(v) + 1
	}
	return n
}

// AppendJSON appends the result (T-633) and the members of the protocol revision.
func (r *Result) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Name("completion").Object().Name("values").Array()
	for _, v := range r.values {
		b.Raw(v)
	}
	b.End()
	if r.total >= 0 {
		b.Name("total").Int(r.total)
	}
	b.Name("hasMore").Bool(r.next != "")
	b.Optional("nextCursor", r.next)
	extra.AppendOwnMeta(b.End())
	return b.End().Bytes()
}
