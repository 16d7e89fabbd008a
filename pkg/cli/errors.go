package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mcp-bash/pkg/json/rawjson"
)

// An Error is a failure as a command tells it: one or more lines for people on
// standard error, one object for programs with --json (CLI-108).
type Error struct {
	Code    string // for programs; one of the Code constants
	Message string // without the verb; its line breaks are printed, so it is made by [Sprintf]
	Exit    int
	Whole   bool            // Message is told as it is, without the verb before it
	Told    bool            // people were told; Message is for programs
	Data    json.RawMessage // more for programs; nil: none
}

func (e *Error) Error() string { return e.Message }

// The words of CLI-108.
const (
	CodeUsage    = "usage"
	CodeNotFound = "not_found"
	CodeInvalid  = "invalid"
	CodeExists   = "exists"
	CodePolicy   = "policy"
	CodeDepends  = "dependency"
	CodeNetwork  = "network"
	CodeTimeout  = "timeout"
	CodeInternal = "internal"
)

// Usagef makes an error of use (CLI-103).
func Usagef(format string, args ...any) *Error {
	return &Error{Code: CodeUsage, Message: Sprintf(format, args...), Exit: ExitUsage}
}

// Failf makes any other error, with exit code 1.
func Failf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: Sprintf(format, args...), Exit: ExitFailed}
}

// MessageOf returns the message of an error for [Printf]: that of an [*Error], which may have several
// lines, or any other on one line.
func MessageOf(err error) Lines {
	var e *Error
	if errors.As(err, &e) {
		return Lines(e.Message)
	}
	return Lines(Line(err.Error()))
}

// report tells an error of a verb and returns the exit code. name is how the
// user called the verb, for the line that points to its help (CLI-104).
func report(s Streams, err error, verb, name string, asJSON bool) int {
	var e *Error
	if errors.As(err, new(outputError)) { // Run reports it
		return ExitFailed
	}
	message := MessageOf(err)
	if !errors.As(err, &e) {
		e = &Error{Code: CodeInternal, Message: string(message), Exit: ExitFailed}
	}
	switch {
	case e.Told:
	case e.Whole:
		Printf(s.Err, "%s\n", message)
	default:
		Printf(s.Err, "%s: %s\n", verb, message)
	}
	if e.Code == CodeUsage {
		Printf(s.Err, "Run \"%s --help\" for usage.\n", name)
	}
	if asJSON {
		writeError(s.Out, e)
	}
	return e.Exit
}

// writeError writes the object of CLI-108.
func writeError(w io.Writer, e *Error) {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(false).Name("error").Object().
		Name("code").String(e.Code).Name("message").String(e.Message)
	if e.Data != nil {
		b.Name("data").Raw(e.Data)
	}
	b.End().End()
	fmt.Fprintf(w, "%s\n", b.Bytes())
}
