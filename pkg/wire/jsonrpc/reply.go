package jsonrpc

import (
	"encoding/json"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// AppendResult appends a response line. value appends the result; nil means an empty object.
func AppendResult(dst []byte, id ID, value func(dst []byte) []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":`...)
	if value == nil {
		dst = append(dst, "{}"...)
	} else {
		dst = value(dst)
	}
	return append(dst, "}\n"...)
}

// AppendError appends an error response line. The empty ID is omitted (P-401).
func AppendError(dst []byte, id ID, value func(dst []byte) []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if len(id) > 0 {
		dst = append(dst, `"id":`...)
		dst = append(dst, id...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"error":`...)
	return append(value(dst), "}\n"...)
}

// AppendNotification appends a notification line.
func AppendNotification(dst []byte, method string, params json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = rawjson.AppendString(dst, method)
	return appendParams(dst, params)
}

// AppendRequest appends a request line of the server. params can be nil.
func AppendRequest(dst []byte, id int64, method string, params json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":`...)
	dst = rawjson.AppendString(dst, method)
	return appendParams(dst, params)
}

func appendParams(dst []byte, params json.RawMessage) []byte {
	if len(params) > 0 {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, "}\n"...)
}
