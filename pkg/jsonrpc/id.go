package jsonrpc

import (
	"encoding/json"
	"math"
	"strconv"

	"mcp-bash/pkg/rawjson"
)

// An ID is the id of a request as the client wrote it, so that it can be sent
// back byte for byte (P-501). The empty ID stands for none.
type ID json.RawMessage

// Key returns a text that is equal for equal ids: by JSON type and by value,
// so that 1 and "1" differ while 1 and 1.0 do not (P-1601).
func (id ID) Key() string {
	if s, ok := rawjson.Text(json.RawMessage(id)); ok {
		return "s" + s
	}
	if n, err := strconv.ParseFloat(string(id), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return "n" + strconv.FormatInt(int64(n), 10)
	}
	return "n" + string(id)
}
