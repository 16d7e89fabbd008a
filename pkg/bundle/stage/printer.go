package stage

import (
	"fmt"
	"io"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/text/secrets"
)

// A printer reports the progress of a bundle on standard output, and its problems on standard
// error (CLI-1402).
type printer struct {
	out, err io.Writer
	loud     bool // --verbose
	strict   bool // a warning is a fault

	warnings []string
	faults   []string
}

func (t *printer) Line(format string, args ...any) {
	cli.Printf(t.out, "%s\n", fmt.Sprintf(format, args...))
}

func (t *printer) Done(format string, args ...any) { t.Line("  ✓ "+format, args...) }

func (t *printer) Detail(format string, args ...any) {
	if t.loud {
		t.Line("    "+format, args...)
	}
}

// Note prints a remark on standard error.
func (t *printer) Note(format string, args ...any) {
	cli.Printf(t.err, "  %s\n", secrets.Logins(fmt.Sprintf(format, args...)))
}

func (t *printer) Warn(format string, args ...any) {
	text := problem(format, args)
	if t.strict {
		t.Fault("%s", text)
		return
	}
	t.warnings = append(t.warnings, text)
	cli.Printf(t.err, "  ⚠ Warning: %s\n", text)
}

func (t *printer) WarnHint(text, hint string) {
	t.Warn("%s", text)
	cli.Printf(t.err, "    → %s\n", hint)
}

// Fault reports a problem that prevents the bundle.
func (t *printer) Fault(format string, args ...any) {
	text := problem(format, args)
	t.faults = append(t.faults, text)
	cli.Printf(t.err, "  ✗ %s\n", text)
}

// problem returns a warning or a fault on one line, without logins in URLs.
func problem(format string, args []any) string {
	return cli.Line(secrets.Logins(fmt.Sprintf(format, args...)))
}

// Warnings returns the warnings that were printed.
func (t *printer) Warnings() []string { return t.warnings }
