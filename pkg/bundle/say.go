package bundle

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

func (t *printer) line(format string, args ...any) {
	cli.Printf(t.out, "%s\n", fmt.Sprintf(format, args...))
}

func (t *printer) done(format string, args ...any) { t.line("  ✓ "+format, args...) }

func (t *printer) verbose(format string, args ...any) {
	if t.loud {
		t.line("    "+format, args...)
	}
}

// note prints a remark on standard error.
func (t *printer) note(format string, args ...any) {
	cli.Printf(t.err, "  %s\n", secrets.Logins(fmt.Sprintf(format, args...)))
}

func (t *printer) warn(format string, args ...any) {
	text := problem(format, args)
	if t.strict {
		t.fault("%s", text)
		return
	}
	t.warnings = append(t.warnings, text)
	cli.Printf(t.err, "  ⚠ Warning: %s\n", text)
}

func (t *printer) warnHint(text, hint string) {
	t.warn("%s", text)
	cli.Printf(t.err, "    → %s\n", hint)
}

// fault reports a problem that prevents the bundle.
func (t *printer) fault(format string, args ...any) {
	text := problem(format, args)
	t.faults = append(t.faults, text)
	cli.Printf(t.err, "  ✗ %s\n", text)
}

// problem returns a warning or a fault on one line, without logins in URLs.
func problem(format string, args []any) string {
	return cli.Line(secrets.Logins(fmt.Sprintf(format, args...)))
}
