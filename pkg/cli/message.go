package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
)

// An Error is a failure of a command. People read it on standard error as
//
//	VERB: OP SUBJECT: CAUSE
//	HINT
//
// Programs that use --json read it as an object on standard output. Code and Cause are required.
type Error struct {
	Code    string // one of the Code constants
	Op      string // the operation; "": the cause names it
	Subject string // the object of the operation, such as a path
	Cause   error
	Hint    string          // the remedy, made by [Sprintf]; may have several lines
	Exit    int             // 0: [ExitFailed]
	Bare    bool            // print no verb: the contract fixes the text, or the cause begins with a name
	Printed bool            // the error was already printed for people
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

// The codes of errors.
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

// Usagef returns an error of wrong usage. It formats the message as [Sprintf] does.
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

// report prints an error of a command and returns the exit code. name is the command as the user typed it.
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
		var b rawjson.Builder
		b.Object().Name("ok").Bool(false).Name("error").Object().
			Name("code").String(e.Code).Name("message").String(e.Error()).OptionalRaw("data", e.Data).End().End()
		fmt.Fprintf(s.Out, "%s\n", b.Bytes())
	}
	return cmp.Or(e.Exit, ExitFailed)
}

// Exit codes. Errors of registration have other codes.
const (
	ExitOK     = 0
	ExitFailed = 1 // the operation failed, or a check found errors
	ExitUsage  = 2 // wrong usage
	ExitPolicy = 3 // denied, or a dependency is missing
	ExitSignal = 128
)

// Printf writes a message as [fmt.Fprintf] does. Only format can contain line breaks: texts among args may come from
// other authors, so Printf applies [Line] to them. On standard error it wraps lines that are too long for the terminal.
// Slices of bytes are data, which is printed unchanged.
func Printf(w io.Writer, format string, args ...any) (int, error) {
	text := Sprintf(format, args...)
	hasData := slices.ContainsFunc(args, func(arg any) bool { _, ok := arg.([]byte); return ok })
	if isDiagnostics(w) && !hasData {
		text = wrapped(w, text)
	}
	return io.WriteString(w, text)
}

// Sprintf returns the message that [Printf] writes.
func Sprintf(format string, args ...any) string {
	lines := make([]any, len(args))
	for i, arg := range args {
		lines[i] = inLine(arg)
	}
	return fmt.Sprintf(format, lines...)
}

// Lines is a text for [Printf], or the cause of an [Error], that may have several lines. Its author applies [Line] or
// [Sprintf] to texts of other origin.
type Lines string

func (l Lines) Error() string { return string(l) }

// Notice writes a line on standard error, without logins in URLs.
func (s Streams) Notice(line string) { Printf(s.Err, "%s\n", secrets.Logins(line)) }

// inLine returns an argument with every text in it on one line.
func inLine(arg any) any {
	switch arg := arg.(type) {
	case nil, Lines:
		return arg
	case string:
		return Line(arg)
	case error:
		return Line(arg.Error())
	case fmt.Stringer:
		return Line(arg.String())
	}
	switch v := reflect.ValueOf(arg); {
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool:
		return arg
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return arg
	}
	return Line(fmt.Sprint(arg))
}

// Printable makes a text safe for terminals. It escapes control characters except line breaks and tabs. It also escapes
// separators of lines and paragraphs, and characters that reorder text. The escapes have the form \u001b, so JSON keeps
// its meaning. Invalid UTF-8 becomes U+FFFD.
func Printable(text string) string {
	if isPrintable(text) {
		return text
	}
	shown, rest := appendPrintable(nil, []byte(text))
	for i := range rest { // byte by byte
		r, _ := utf8.DecodeRune(rest[i : i+1])
		shown = appendEscaped(shown, r)
	}
	return string(shown)
}

// Line is [Printable] for text on one line. It escapes line breaks and tabs as well. Line(Line(text)) equals
// Line(text).
func Line(text string) string {
	return lineBreaks.Replace(Printable(text))
}

var lineBreaks = strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`)

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || steers(r) })
}

// steers reports whether a character controls the terminal, or reorders the text around it.
func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// appendPrintable appends the result of [Printable]. rest is an incomplete end of the text: part of a character, or a
// carriage return, which is kept only before a line feed.
func appendPrintable(dst, text []byte) (shown, rest []byte) {
	for len(text) > 0 {
		if text[0] == '\r' {
			switch {
			case len(text) == 1:
				return dst, text
			case text[1] == '\n':
				dst, text = append(dst, "\r\n"...), text[2:]
				continue
			}
		}
		if !utf8.FullRune(text) {
			return dst, text
		}
		r, size := utf8.DecodeRune(text)
		dst = appendEscaped(dst, r)
		text = text[size:]
	}
	return dst, nil
}

func appendEscaped(dst []byte, r rune) []byte {
	if steers(r) {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return utf8.AppendRune(dst, r)
}
