package jsonrpc

import (
	"encoding/json"
	"math"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// An ID is the id of a request as the client wrote it, so that the response repeats it byte
// for byte (P-501). The empty ID means that there is no id.
type ID json.RawMessage

// Key returns a text that is equal for equal ids, by JSON type and value. 1 and "1" differ,
// but 1 and 1.0 are equal (P-1601).
func (id ID) Key() string {
	if s, ok := rawjson.Text(json.RawMessage(id)); ok {
		return "s" + s
	}
	if n, err := strconv.ParseFloat(string(id), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return "n" + strconv.FormatInt(int64(n), 10)
	}
	return "n" + string(id)
}
