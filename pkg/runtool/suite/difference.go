package suite

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/runtool/cases"
)

// maxShown limits the text of a difference, in bytes.
const maxShown = 16 << 10

// lines returns the lines of a difference: the expected ones with "-", the actual ones with "+". Texts of several
// lines are compared line by line.
func lines(d cases.Difference) string {
	want, got := head(d.Want), head(d.Got)
	switch {
	case d.Want == "" && d.What != "text":
		return "+ " + strings.ReplaceAll(got, "\n", "\n+ ")
	case !strings.Contains(want+got, "\n"):
		return "- " + want + "\n+ " + got
	}
	text := string(diff.Diff("", []byte(want+"\n"), "", []byte(got+"\n")))
	_, hunks, _ := strings.Cut(text, "\n@@")
	_, hunks, _ = strings.Cut(hunks, "\n")
	return strings.TrimSuffix(hunks, "\n")
}

func head(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// indented returns a text for [cli.Printf], with its lines indented.
func indented(text, by string) cli.Lines {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(cli.Sprintf("%s%s\n", by, line))
	}
	return cli.Lines(b.String())
}
