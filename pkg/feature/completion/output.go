package completion

import (
	"encoding/json"
	"errors"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
)

// An output is what a script printed (T-630).
type output struct {
	values []json.RawMessage // strings, as written; at most the limit
	total  int               // -1: not known
	more   bool
	next   int    // the offset of the next page; -1: not said
	cursor string // the script's own, for the next page
}

// errNoJSON is the error for output that is no JSON at all; there is nothing
// to suggest then, and nobody to blame but the script (T-630).
var errNoJSON = errors.New("it printed what is not JSON")

// parseOutput reads what a script printed, that was asked for limit values from
// an offset on.
func parseOutput(stdout []byte, limit, offset int) (output, error) {
	o := output{total: -1, next: -1}
	if len(rawjson.SkipSpace(stdout)) == 0 {
		return o, nil
	}
	doc, err := rawjson.Check(stdout)
	if err != nil {
		return o, errNoJSON
	}
	list := doc
	switch rawjson.KindOf(doc) {
	case rawjson.Array:
	case rawjson.Object:
		if list = rawjson.Get(doc, "suggestions"); !rawjson.Absent(list) && rawjson.KindOf(list) != rawjson.Array {
			return o, errors.New("its suggestions are no array")
		}
		if err := o.setExtras(doc); err != nil {
			return o, err
		}
	default:
		return o, errors.New("it printed neither an array nor an object")
	}
	n := 0
	for e := range rawjson.Elements(list) {
		if rawjson.KindOf(e) != rawjson.String {
			return o, errors.New("a suggestion is no string")
		}
		if n++; n <= limit {
			o.values = append(o.values, e)
		}
	}
	if rawjson.KindOf(doc) == rawjson.Array && offset == 0 {
		o.total = n
	}
	if n > limit { // T-631: what was cut off comes next, whatever the script says
		o.more, o.next = true, -1
	}
	return o, nil
}

// setExtras reads what stands beside the suggestions.
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
		return errors.New("its cursor is too long or has a NUL")
	}
	o.more = o.more || o.cursor != ""
	return nil
}

// offsetOf reads a number or a string of digits (T-632).
func offsetOf(v json.RawMessage) (int, bool) {
	text := string(v)
	if s, ok := rawjson.Text(v); ok {
		text = s
	}
	n, ok := settings.Digits(text)
	return min(n, maxOffset), ok
}
