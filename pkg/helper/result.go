package helper

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
)

func envelope(text string, structured json.RawMessage, isError bool) []byte {
	var b rawjson.Builder
	b.Object().
		Name("content").Array().Object().Name("type").String("text").Name("text").String(text).End().End().
		Name("structuredContent").Raw(structured).
		Name("isError").Bool(isError).End()
	return b.Bytes()
}

func errorEnvelope(text string, problem json.RawMessage) []byte {
	var b rawjson.Builder
	b.Object().Name("success").Bool(false).Name("error").Raw(problem).End()
	return envelope(text, b.Bytes(), true)
}

func success(args []string, input []byte) ([]byte, int) {
	limit, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, exitUsage
	}
	values, ok := parse(input)
	if !ok {
		return nil, exitNo
	}
	var b rawjson.Builder
	if len(values) != 1 {
		b.Object().Name("type").String("internal_error").
			Name("message").String("Input contained multiple JSON values").Name("count").Int(len(values)).End()
		return errorEnvelope("Error: input must be single JSON value", b.Bytes()), exitOK
	}
	b.Object().Name("success").Bool(true).Name("result").Raw(compact(values[0])).End()
	text := string(b.Bytes())
	if len(text) > limit {
		text = "Success: " + summary(values[0])
	}
	return envelope(text, b.Bytes(), false), exitOK
}

func summary(v json.RawMessage) string {
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		n := 0
		for range rawjson.Elements(v) {
			n++
		}
		return fmt.Sprintf("array with %d items", n)
	case rawjson.Object:
		return fmt.Sprintf("object with %d keys", len(rawjson.Members(v)))
	}
	text := plainText(v)
	n := 0
	for at := range text {
		if n++; n > 100 {
			return text[:at]
		}
	}
	return text
}

func failure(_ []string, input []byte) ([]byte, int) {
	values, ok := parse(input)
	switch {
	case !ok:
		return nil, exitNo
	case len(values) != 1:
		return wrongError("Error payload must be single JSON value", fmt.Sprintf("multiple values: %d", len(values))),
			exitOK
	case rawjson.KindOf(values[0]) != rawjson.Object:
		return wrongError("Error payload must be an object", plainText(values[0])), exitOK
	}
	problem := compact(values[0])
	message := rawjson.Get(problem, "message")
	if isFalsy(message) {
		message = rawjson.Quote("Unknown error")
	}
	kind := rawjson.Get(problem, "type")
	if isFalsy(kind) {
		kind = rawjson.Quote("internal_error")
	}
	return errorEnvelope(plainText(message), rawjson.With(rawjson.With(problem, "type", kind), "message", message)), exitOK
}

func wrongError(message, raw string) []byte {
	var b rawjson.Builder
	b.Object().Name("type").String("internal_error").Name("message").String(message).Name("raw").String(raw).End()
	return errorEnvelope(message, b.Bytes())
}

// aroundMedia is the maximum size of a response without the data of the image or sound, in bytes.
const aroundMedia = 1024

// medium returns the envelope of mcp_result_image and mcp_result_audio. The envelope of a file that cannot be sent
// contains the reason.
func medium(args []string, _ []byte) ([]byte, int) {
	limit, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, exitUsage
	}
	kind, file, mimeType := args[0], args[2], ""
	if len(args) > 3 {
		mimeType = args[3]
	}
	fault := func(text string) ([]byte, int) {
		text = "mcp_result_" + kind + ": " + text + ": " + file
		var b rawjson.Builder
		b.Object().Name("type").String("internal_error").Name("message").String(text).End()
		return append(errorEnvelope(text, b.Bytes()), '\n'), exitOK
	}
	room := max(0, (limit-aroundMedia)/4*3)
	data, err := boundedfile.ReadHead(file, room+1)
	if err != nil {
		return fault(err.Error())
	}
	if mimeType == "" {
		mimeType = media.ByMagic(data)
	}
	if mimeType == "" && strings.EqualFold(filepath.Ext(file), ".svg") {
		mimeType = media.ByName(file)
	}
	switch {
	case !strings.HasPrefix(mimeType, kind+"/"):
		return fault(fmt.Sprintf("neither name nor content show its type, give it as well (%s/...)", kind))
	case len(data) > room:
		return fault(fmt.Sprintf("too large for a result of %d bytes (MCPBASH_MAX_TOOL_OUTPUT_SIZE)", limit))
	}
	var b rawjson.Builder
	b.Object().Name("content").Array().Object().
		Name("type").String(kind).
		Name("data").String(base64.StdEncoding.EncodeToString(data)).
		Name("mimeType").String(mimeType).End().End().
		Name("isError").Bool(false).End()
	return append(b.Bytes(), '\n'), exitOK
}

// sniffed is the number of bytes at the beginning of a file that its type is derived from.
const sniffed = 1 << 20

// mimeTypes returns the types of files, by name and content. It reads only regular files.
func mimeTypes(files []string, _ []byte) ([]byte, int) {
	var answer []byte
	for _, file := range files {
		answer = append(append(answer, mimeType(file)...), '\n')
	}
	return answer, exitOK
}

func mimeType(file string) string {
	head, err := boundedfile.ReadHead(file, sniffed)
	if err != nil {
		return media.Binary
	}
	if len(head) == 0 {
		return media.Text
	}
	if byName := media.ByName(file); byName != "" {
		return byName
	}
	if len(head) == sniffed {
		head = media.WholeRunes(head)
	}
	return media.Sniff(head)
}

// truncate cuts a result to a size.
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
