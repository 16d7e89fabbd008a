package cli

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"mcp-bash/pkg/text/secrets"
)

// Printf writes a message as [fmt.Fprintf] does. Only format can contain line breaks: texts among args may come from
// other authors, so Printf applies [Line] to them (CLI-117). On standard error it wraps lines that are too long for the
// terminal (CLI-126). Slices of bytes are data, which is printed unchanged.
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
	return fmt.Sprintf(format, inLines(args)...)
}

// inLines returns a copy of arguments with every text on one line.
func inLines(args []any) []any {
	lines := make([]any, len(args))
	for i, arg := range args {
		lines[i] = inLine(arg)
	}
	return lines
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
