package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
)

// maxPayload limits the JSON of an argument, in bytes (CLI-119).
const maxPayload = 64 << 20

// A PayloadReader reads the JSON of arguments.
type PayloadReader struct {
	Stdin   io.Reader
	Timeout time.Duration // for standard input; 0: none
}

// Read reads the JSON of an argument. The value is the JSON itself, "@" and a file, or "-" or "@-" for standard
// input. An empty text is an empty object. kind is the required JSON, such as "an object", for the error of invalid
// JSON. The error is an [*Error] that names the argument.
func (r PayloadReader) Read(name, value, kind string) (json.RawMessage, error) {
	text := []byte(value)
	var err error
	switch {
	case value == "-" || value == "@-":
		text, err = r.stdin(name)
	case strings.HasPrefix(value, "@"):
		text, err = readFile(name, value[1:])
	}
	if err != nil {
		return nil, err
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return json.RawMessage("{}"), nil
	}
	v, err := rawjson.Check(text)
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line, column := syntax.Position(text)
		return nil, wrongPayload(name, kind).WithHint("see line %d, column %d: %s", line, column, syntax.Reason)
	case err != nil:
		return nil, wrongPayload(name, kind).WithHint("see its encoding: %v", err)
	}
	return v, nil
}

// wrongPayload returns the error of an argument with other JSON than required (CLI-1163).
func wrongPayload(name, kind string) *Error {
	err := Failf(CodeInvalid, "%s must be %s", name, kind)
	err.Exit = ExitUsage
	return err
}

// Object is [PayloadReader.Read] for an argument that must be an object.
func (r PayloadReader) Object(name, value string) (json.RawMessage, error) {
	v, err := r.Read(name, value, "a JSON object")
	if err == nil && rawjson.KindOf(v) != rawjson.Object {
		return nil, wrongPayload(name, "a JSON object")
	}
	return v, err
}

func (r PayloadReader) stdin(name string) ([]byte, error) {
	ctx := context.Background()
	if r.Timeout > 0 {
		late := Failf(CodeTimeout, "%s: standard input did not end within %v; end it, or name a file as @FILE",
			name, r.Timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, late)
		defer cancel()
	}
	text, err := boundedfile.ReadStream(ctx, r.Stdin, maxPayload)
	return text, payloadError(name, "standard input", err)
}

func readFile(name, file string) ([]byte, error) {
	file, err := fsys.Named(file, os.Getenv("HOME"))
	if err != nil {
		return nil, Failf(CodeInvalid, "%s: %v", name, err)
	}
	text, err := boundedfile.Read(file, maxPayload)
	return text, payloadError(name, Line(file), err)
}

// payloadError returns the error of a command for an error of reading.
func payloadError(name, source string, err error) error {
	var large *boundedfile.TooLargeError
	var own *Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &large):
		return Failf(CodeInvalid, "%s: %s is larger than %d MiB, which is the limit; shorten it",
			name, source, large.Max>>20)
	case errors.Is(err, boundedfile.ErrNotRegular):
		return Failf(CodeInvalid, "%s: %s is not a regular file; write its content to a file, or pipe it and pass -",
			name, source)
	}
	return Failf(CodeNotFound, "%s: open %s: %v", name, source, fsys.Cause(err))
}
