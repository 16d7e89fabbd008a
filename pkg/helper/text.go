package helper

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
)

// readText reads a text and the newline that Bash adds to it.
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

// withoutNUL removes U+0000, which a Bash variable cannot contain.
func withoutNUL(text []byte) []byte {
	if bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{0}, nil)
}

// parse splits a text into its JSON values. ok is false if it contains anything else.
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

// compact returns a value in the form of results (SDK-16, SDK-18, SDK-19).
func compact(v json.RawMessage) json.RawMessage { return jqtext.Normal(v) }

// plainText returns a value in the form that the SDK prints: strings without quotes, other values as compact JSON.
func plainText(v json.RawMessage) string { return string(jqtext.AppendText(nil, v)) }

// isFalsy reports whether jq's // replaces a value: nothing, null or false.
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

// redacted prints a text without its secrets (SDK-103).
func redacted(_ []string, input []byte) ([]byte, int) {
	return []byte(secrets.Text(string(input))), exitOK
}

// cliError finds the message of an error in the output of a program (SDK-89).
func cliError(_ []string, input []byte) ([]byte, int) {
	values, ok := parse(input)
	if !ok || len(values) != 1 || rawjson.KindOf(values[0]) != rawjson.Object {
		return nil, exitOK
	}
	for _, message := range cliMessages(values[0]) {
		if !rawjson.Absent(message) {
			return []byte(plainText(message)), exitOK
		}
	}
	return nil, exitOK
}

// cliMessages lists the members in which programs report errors.
func cliMessages(doc json.RawMessage) []json.RawMessage {
	var messages []json.RawMessage
	problem := rawjson.Get(doc, "error")
	switch rawjson.KindOf(problem) {
	case rawjson.Object:
		messages = append(messages, rawjson.Get(problem, "message"))
	case rawjson.String:
		messages = append(messages, problem)
	}
	if string(rawjson.Get(doc, "success")) == "false" || string(rawjson.Get(doc, "ok")) == "false" ||
		rawjson.TextOf(doc, "status") == "error" {
		messages = append(messages, rawjson.Get(doc, "message"))
	}
	for first := range rawjson.Elements(rawjson.Get(doc, "errors")) {
		messages = append(messages, rawjson.Get(first, "message"))
		break
	}
	return messages
}
