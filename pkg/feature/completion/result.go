package completion

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

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
	if r.next != "" {
		b.Name("nextCursor").String(r.next)
	}
	extra.AppendOwnMeta(b.End())
	return b.End().Bytes()
}
