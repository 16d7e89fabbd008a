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
	cli.Printf(t.out, "%s\n", fmt.Sprintf(format, args...))
}

func (t *teller) done(format string, args ...any) { t.line("  ✓ "+format, args...) }

func (t *teller) verbose(format string, args ...any) {
	if t.loud {
		t.line("    "+format, args...)
	}
}

// note is for standard error: what is neither wrong nor data.
func (t *teller) note(format string, args ...any) {
	cli.Printf(t.err, "  %s\n", fmt.Sprintf(format, args...))
}

func (t *teller) warn(format string, args ...any) {
	text := cli.Line(fmt.Sprintf(format, args...))
	if t.strict {
		t.fault("%s", text)
		return
	}
	t.warnings = append(t.warnings, text)
	cli.Printf(t.err, "  ⚠ Warning: %s\n", text)
}

func (t *teller) warnHint(text, hint string) {
	t.warn("%s", text)
	cli.Printf(t.err, "    → %s\n", hint)
}

// fault tells why there will be no bundle.
func (t *teller) fault(format string, args ...any) {
	text := cli.Line(fmt.Sprintf(format, args...))
	t.faults = append(t.faults, text)
	cli.Printf(t.err, "  ✗ %s\n", text)
}
