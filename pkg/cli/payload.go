package cli

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"mcp-bash/pkg/rawjson"
)

// maxPayload bounds what is read for an argument, in bytes.
const maxPayload = 64 << 20

// Payload reads the JSON of an argument: written out, in a file after "@", or on
// standard input for "-" and "@-". What is empty is an empty object; what is no
// JSON is nil. name is what the argument is called in the error.
func Payload(name, value string, stdin io.Reader) (json.RawMessage, error) {
	text := []byte(value)
	var err error
	switch {
	case value == "-" || value == "@-":
		text, err = io.ReadAll(io.LimitReader(stdin, maxPayload))
	case strings.HasPrefix(value, "@"):
		text, err = os.ReadFile(value[1:])
	}
	if err != nil {
		return nil, Failf(CodeNotFound, "%s: %v", name, err)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return json.RawMessage("{}"), nil
	}
	v, err := rawjson.Check(text)
	if err != nil {
		return nil, nil
	}
	return v, nil
}

// ObjectPayload is [Payload] for one that must be an object.
func ObjectPayload(name, value string, stdin io.Reader) (json.RawMessage, error) {
	v, err := Payload(name, value, stdin)
	if err == nil && rawjson.KindOf(v) != rawjson.Object {
		err = Failf(CodeInvalid, "%s must be a JSON object", name)
	}
	return v, err
}
