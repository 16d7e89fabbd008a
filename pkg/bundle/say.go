package bundle

import (
	"fmt"
	"io"

	"mcp-bash/pkg/cli"
)

// A teller tells people how a bundle comes about: what is done on standard output,
// what is wrong on standard error (CLI-1402).
type teller struct {
	out, err io.Writer
	loud     bool // --verbose
	strict   bool // a warning is a fault

	warnings []string
	faults   []string
}

func (t *teller) line(format string, args ...any) {
	fmt.Fprintln(t.out, cli.Line(fmt.Sprintf(format, args...)))
}

func (t *teller) done(format string, args ...any) { t.line("  ✓ "+format, args...) }

func (t *teller) verbose(format string, args ...any) {
	if t.loud {
		t.line("    "+format, args...)
	}
}

// note is for standard error: what is neither wrong nor data.
func (t *teller) note(format string, args ...any) {
	fmt.Fprintln(t.err, "  "+cli.Line(fmt.Sprintf(format, args...)))
}

func (t *teller) warn(format string, args ...any) {
	text := cli.Line(fmt.Sprintf(format, args...))
	if t.strict {
		t.fault("%s", text)
		return
	}
	t.warnings = append(t.warnings, text)
	fmt.Fprintln(t.err, "  ⚠ Warning: "+text)
}

func (t *teller) warnHint(text, hint string) {
	t.warn("%s", text)
	fmt.Fprintln(t.err, "    → "+hint)
}

// fault tells why there will be no bundle.
func (t *teller) fault(format string, args ...any) {
	text := cli.Line(fmt.Sprintf(format, args...))
	t.faults = append(t.faults, text)
	fmt.Fprintln(t.err, "  ✗ "+text)
}
