package completion

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/strict64"
	"mcp-bash/pkg/wire/mcp"
)

// A position is the begin of a page. The zero value is the first page.
type position struct {
	source string // key of the source, or "" for any source
	offset int
	own    string // cursor of the script, or ""
	pages  int    // the number of pages before this one
	output string // digest of the output for the page before, or ""
}

const (
	maxCursor    = 1 << 20  // bytes of a cursor that is decoded
	maxOwnCursor = 16 << 10 // bytes of a script's cursor
	maxOffset    = 1 << 30
	maxPages     = 1000 // of one completion
)

var errCursor = mcp.Errorf(mcp.CodeInvalidParams, "Invalid cursor")

// encodeCursor returns the cursor of the next page. Clients treat it as opaque (T-634).
func encodeCursor(q *query, s *source, next *position) string {
	var b rawjson.Builder
	b.Object().Name("ver").Int(1).Name("kind").String("completion").Name("name").String(q.name).
		Name("args").String(q.digest()).Name("offset").Int(next.offset).Name("script").String(s.key())
	b.Optional("cursor", next.own)
	b.Name("pages").Int(next.pages).Name("output").String(next.output)
	return base64.RawURLEncoding.EncodeToString(b.End().Bytes())
}

// decodeCursor parses the cursor of a request for a name. The caller checks that the source is unchanged.
func decodeCursor(v json.RawMessage, name string) (position, error) {
	if rawjson.Absent(v) || string(v) == `""` {
		return position{}, nil
	}
	text, ok := rawjson.Text(v)
	if !ok || len(text) > maxCursor {
		return position{}, errCursor
	}
	decoded, err := strict64.URL(strings.TrimRight(text, "="))
	if err != nil {
		return position{}, errCursor
	}
	c, err := rawjson.Check(decoded)
	if err != nil || rawjson.TextOf(c, "kind") != "completion" || rawjson.TextOf(c, "name") != name {
		return position{}, errCursor
	}
	p := position{
		source: rawjson.TextOf(c, "script"), own: rawjson.TextOf(c, "cursor"), output: rawjson.TextOf(c, "output"),
	}
	if n, ok := offsetOf(rawjson.Get(c, "pages")); ok {
		p.pages = n
	}
	p.offset, err = strconv.Atoi(string(rawjson.Get(c, "offset")))
	if err != nil || p.offset < 0 || p.offset > maxOffset || p.source == "" || !isOwnCursor(p.own) {
		return position{}, errCursor
	}
	return p, nil
}

// isOwnCursor reports whether a script's cursor fits in an environment variable.
func isOwnCursor(s string) bool { return len(s) <= maxOwnCursor && !strings.Contains(s, "\x00") }
