package methods

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/strict64"
	"mcp-bash/pkg/wire/mcp"
)

// encodeCursor returns a cursor: the place where the next page of a list begins (P-2002).
func encodeCursor(collection string, offset int, hash string, now time.Time) string {
	var b rawjson.Builder
	b.Object().Name("ver").Int(1).Name("collection").String(collection).Name("offset").Int(offset).
		Name("hash").String(hash).Name("timestamp").String(now.UTC().Format("2006-01-02T15:04:05Z")).End()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

var errCursor = mcp.Errorf(mcp.CodeInvalidParams, "Invalid cursor")

// maxCursor is the maximum length of a cursor, in bytes.
const maxCursor = 4096

// decodeCursor returns the offset of a cursor, if the cursor belongs to this list in this state
// (P-2003).
func decodeCursor(cursor, collection, hash string) (offset int, err *mcp.Error) {
	if len(cursor) > maxCursor {
		return 0, errCursor
	}
	text, decodeErr := strict64.URL(strings.TrimRight(cursor, "="))
	if decodeErr != nil {
		return 0, errCursor
	}
	v, checkErr := rawjson.Check(text)
	if checkErr != nil || rawjson.TextOf(v, "collection") != collection || rawjson.TextOf(v, "hash") != hash {
		return 0, errCursor
	}
	offset, atoiErr := strconv.Atoi(string(rawjson.Get(v, "offset")))
	if atoiErr != nil || offset < 0 {
		return 0, errCursor
	}
	return offset, nil
}

// cursorOf returns the cursor of a list request, or "". nextCursor is an alias (P-2000).
func cursorOf(params *mcp.Params) (string, *mcp.Error) {
	v := params.Get(mcp.ParamCursor)
	if v == nil {
		v = params.Get(mcp.ParamNextCursor)
	}
	if rawjson.Absent(v) {
		return "", nil
	}
	s, ok := rawjson.Text(v)
	if !ok {
		return "", errCursor
	}
	return s, nil
}

// pageSize returns the number of items that a request asks for, or usual (P-2000).
func pageSize(params *mcp.Params, usual int) int {
	if n := params.Int(mcp.ParamLimit); n > 0 {
		return min(n, project.MaxPage)
	}
	return usual
}
