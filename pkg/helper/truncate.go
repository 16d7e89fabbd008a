package helper

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// truncate cuts a result to a size (SDK-86).
func truncate(args []string, input []byte) ([]byte, int) {
	limit, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, exitUsage
	}
	values, ok := parse(input)
	switch {
	case !ok:
		return truncateError("invalid_json", "Invalid JSON: parse error", input), exitOK
	case len(values) == 0:
		return truncateError("invalid_json", "Empty input: expected exactly one JSON value", input), exitOK
	case len(values) > 1:
		message := fmt.Sprintf("Multiple JSON values found (%d): expected exactly one", len(values))
		return truncateError("invalid_json", message, input), exitOK
	}
	doc := compact(values[0])
	if len(args) > 1 {
		return truncateAt(doc, args[1], limit), exitOK
	}
	switch {
	case len(doc) <= limit:
		return truncated(doc, false).End().Bytes(), exitOK
	case rawjson.KindOf(doc) == rawjson.Array:
		return truncateArray(doc, limit), exitOK
	case rawjson.KindOf(rawjson.Get(doc, "results")) == rawjson.Array:
		return truncateAt(doc, ".results", limit), exitOK
	}
	message := fmt.Sprintf("Response too large (%d bytes) and cannot be safely truncated (not an array)", len(doc))
	return truncateError("output_too_large", message, nil), exitOK
}

// truncated begins the object of a result that is known.
func truncated(result json.RawMessage, cut bool) *rawjson.Builder {
	var b rawjson.Builder
	return b.Object().Name("result").Raw(result).Name("truncated").Bool(cut)
}

func truncateError(kind, message string, raw []byte) []byte {
	b := truncated(nil, false)
	b.Name("error").Object().Name("type").String(kind).Name("message").String(message)
	if raw != nil {
		b.Name("raw").Text(raw)
	}
	return b.End().End().Bytes()
}

func truncateArray(doc json.RawMessage, limit int) []byte {
	list, kept, total := prefix(doc, limit-len("[]"))
	b := truncated(list, true).Name("kept").Int(kept).Name("total").Int(total)
	if kept == 0 {
		b.Name("_warning").String("individual items exceed max_bytes")
	}
	return b.End().Bytes()
}

func truncateAt(doc json.RawMessage, path string, limit int) []byte {
	keys := strings.Split(strings.TrimPrefix(path, "."), ".")
	list := doc
	for _, key := range keys {
		switch rawjson.KindOf(list) {
		case rawjson.Object:
			list = rawjson.Get(list, key)
		case rawjson.Invalid, rawjson.Null: // stays missing
		default:
			return truncateError("invalid_path", "Invalid path or malformed JSON: "+path, nil)
		}
	}
	switch {
	case rawjson.Absent(list):
		return truncateError("path_not_found", "Path not found: "+path, nil)
	case rawjson.KindOf(list) != rawjson.Array:
		return truncateError("invalid_array_path", "Path is not an array: "+path, nil)
	}
	around := len(doc) - len(list) + len("[]")
	cut, kept, total := prefix(list, limit-around)
	switch {
	case total == 0 || kept == total:
		return truncated(doc, false).Name("kept").Int(total).Name("total").Int(total).End().Bytes()
	case around > limit:
		message := fmt.Sprintf("Response too large (%d bytes) even with empty array at %s", around, path)
		return truncateError("output_too_large", message, nil)
	}
	return truncated(withAt(doc, keys, cut), true).Name("kept").Int(kept).Name("total").Int(total).End().Bytes()
}

func withAt(doc json.RawMessage, keys []string, value json.RawMessage) json.RawMessage {
	if len(keys) > 1 {
		value = withAt(rawjson.Get(doc, keys[0]), keys[1:], value)
	}
	return rawjson.With(doc, keys[0], value)
}

// prefix returns the first elements of a compact array that need at most room bytes between its brackets.
func prefix(list json.RawMessage, room int) (cut json.RawMessage, kept, total int) {
	size := 0 // of the kept elements and their commas
	full := false
	for element := range rawjson.Elements(list) {
		total++
		with := size + len(element)
		if kept > 0 {
			with++
		}
		if full = full || with > room; !full {
			size = with
			kept++
		}
	}
	return append(append(json.RawMessage("["), list[1:1+size]...), ']'), kept, total
}
