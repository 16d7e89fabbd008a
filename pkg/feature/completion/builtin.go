package completion

import (
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// suggest derives values from the typed text. It is the fallback without a script (T-615).
func suggest(q *query, s *source) *Result {
	base := strings.TrimSpace(q.value)
	if base == "" {
		base = strings.TrimSpace(q.name)
	}
	if base == "" {
		base = "suggestion"
	}
	all := [...]string{base, base + " snippet", base + " example"}
	from := min(q.from.offset, len(all))
	to := min(from+q.limit, len(all))
	r := &Result{total: -1}
	for _, value := range all[from:to] {
		r.values = append(r.values, rawjson.Quote(value))
	}
	if to < len(all) {
		r.next = encodeCursor(q, s, to, "")
	}
	return r
}
