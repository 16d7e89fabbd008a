package helper

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// readText reads what Bash handed over: a text and a newline.
func readText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if utf8.Valid(text) {
		return text, nil
	}
	return []byte(string([]rune(string(text)))), nil // a U+FFFD for each stray byte
}

// withoutNUL drops what a Bash variable cannot hold.
func withoutNUL(text []byte) []byte {
	if bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{0}, nil)
}

// parse cuts a text into its JSON values. ok is false when it is not made of
// JSON values only.
func parse(text []byte) (values []json.RawMessage, ok bool) {
	for {
		value, rest, err := rawjson.Next(text)
		if err == io.EOF {
			return values, true
		}
		if err != nil {
			return nil, false
		}
		values = append(values, value)
		text = rest
	}
}

// compact is a value as results hold it (SDK-16, SDK-18, SDK-19).
func compact(v json.RawMessage) json.RawMessage { return jqtext.Normal(v) }

// plainText is a value as the SDK prints it: strings raw, all else compact JSON.
func plainText(v json.RawMessage) string { return string(jqtext.AppendText(nil, v)) }

// isFalsy reports what jq's // replaces: nothing, null and false.
func isFalsy(v json.RawMessage) bool {
	return rawjson.Absent(v) || string(v) == "false"
}

func oneValue(_ []string, input []byte) ([]byte, int) {
	values, ok := parse(input)
	if !ok || len(values) != 1 {
		return nil, exitNo
	}
	return compact(values[0]), exitOK
}

func quote(_ []string, input []byte) ([]byte, int) {
	return rawjson.AppendString(nil, input), exitOK
}
