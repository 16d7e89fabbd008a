package helper

import (
	"encoding/json"
	"fmt"
	"strconv"

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
	if len(values) != 1 {
		var b rawjson.Builder
		b.Object().Name("type").String("internal_error").
			Name("message").String("Input contained multiple JSON values").Name("count").Int(len(values)).End()
		return errorEnvelope("Error: input must be single JSON value", b.Bytes()), exitOK
	}
	var b rawjson.Builder
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
