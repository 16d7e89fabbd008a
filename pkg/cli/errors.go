package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
)

// An Error is a failure of a command. People read it on standard error as
//
//	VERB: OP SUBJECT: CAUSE
//	HINT
//
// Programs that use --json read it as an object on standard output (CLI-108). Code and Cause are required.
type Error struct {
	Code    string // one of the Code constants
	Op      string // the operation; "": the cause names it
	Subject string // the object of the operation, such as a path
	Cause   error
	Hint    string          // the remedy, made by [Sprintf]; may have several lines
	Exit    int             // 0 stands for [ExitFailed]
	Bare    bool            // print no verb: the contract fixes the text, or the cause begins with a name
	Printed bool            // people have read the error already
	Data    json.RawMessage // details for programs
}

// Error returns the error without the verb, and without logins in URLs. It may have several lines.
func (e *Error) Error() string {
	cause, ok := e.Cause.(Lines)
	text := string(cause)
	if !ok {
		text = Line(e.Cause.Error())
	}
	if before := strings.TrimSpace(e.Op + " " + Line(e.Subject)); before != "" {
		text = before + ": " + text
	}
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	return secrets.Logins(text)
}

func (e *Error) Unwrap() error { return e.Cause }

// WithHint adds a hint, as [Sprintf] makes it.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = Sprintf(format, args...)
	return e
}

// The codes of errors (CLI-108).
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

// Usagef returns an error of wrong usage (CLI-103). It formats the message as [Sprintf] does.
func Usagef(format string, args ...any) *Error {
	return &Error{Code: CodeUsage, Cause: Lines(Sprintf(format, args...)), Exit: ExitUsage}
}

// Failf returns an error with exit code 1. It formats the message as [Sprintf] does.
func Failf(code, format string, args ...any) *Error {
	return &Error{Code: code, Cause: Lines(Sprintf(format, args...))}
}

// Baref is [Failf] for a message that is printed without the verb.
func Baref(code, format string, args ...any) *Error {
	return &Error{Code: code, Cause: Lines(Sprintf(format, args...)), Bare: true}
}

// MessageOf returns the message of an error for [Printf]. Only the message of an [*Error] may have several lines.
func MessageOf(err error) Lines {
	if e, ok := errors.AsType[*Error](err); ok {
		return Lines(e.Error())
	}
	return Lines(Line(secrets.Logins(err.Error())))
}

// report prints an error of a command and returns the exit code. name is what the user typed for the command
// (CLI-104).
func report(s Streams, err error, verb, name string, asJSON bool) int {
	if errors.As(err, new(outputError)) { // Run reports it
		return ExitFailed
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Code: CodeInternal, Cause: err}
	}
	switch {
	case e.Printed:
	case e.Bare:
		Printf(s.Err, "%s\n", Lines(e.Error()))
	default:
		Printf(s.Err, "%s: %s\n", verb, Lines(e.Error()))
	}
	if e.Code == CodeUsage {
		Printf(s.Err, "Run \"%s --help\" for usage.\n", name)
	}
	if asJSON {
		writeError(s.Out, e)
	}
	return cmp.Or(e.Exit, ExitFailed)
}

func writeError(w io.Writer, e *Error) {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(false).Name("error").Object().
		Name("code").String(e.Code).Name("message").String(e.Error())
	b.OptionalRaw("data", e.Data)
	b.End().End()
	fmt.Fprintf(w, "%s\n", b.Bytes())
}

// Exit codes (CLI-102). Errors of registration have other codes.
const (
	ExitOK     = 0
	ExitFailed = 1 // the operation failed, or a check found errors
	ExitUsage  = 2 // wrong usage
	ExitPolicy = 3 // denied, or a dependency is missing
	ExitSignal = 128
)
