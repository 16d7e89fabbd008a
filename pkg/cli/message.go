package cli

import (
	"fmt"
	"io"
	"reflect"
)

// Printf writes a message as [fmt.Fprintf] does. Its lines are those of format: texts among args may
// come from anybody and stay on the line where they stand, as [Line] shows them (CLI-117). Data, such
// as JSON, is written without it.
func Printf(w io.Writer, format string, args ...any) error {
	for i := range args {
		args[i] = inLine(args[i])
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}

// Sprintf returns the message that [Printf] writes.
func Sprintf(format string, args ...any) string {
	for i := range args {
		args[i] = inLine(args[i])
	}
	return fmt.Sprintf(format, args...)
}

// Lines is a text for [Printf] that may have several lines. Whoever makes it calls [Line] or
// [Sprintf] for what others wrote.
type Lines string

// Notice writes a line on standard error.
func (s Streams) Notice(line string) { Printf(s.Err, "%s\n", line) }

// inLine returns an argument with every text in it on one line.
func inLine(arg any) any {
	switch arg := arg.(type) {
	case nil, Lines, bool, int, int32, int64:
		return arg
	case string:
		return Line(arg)
	case []byte:
		return Line(string(arg))
	case error:
		return Line(arg.Error())
	case fmt.Stringer:
		return Line(arg.String())
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.String:
		return Line(v.String())
	case reflect.Bool, reflect.Float64, reflect.Uint8, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return arg
	}
	return Line(fmt.Sprint(arg))
}
