package suite

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/runtool/cases"
)

// A report prints results in the order of the tests.
type report interface {
	add(r *result)
	end(t *totals)
}

// totals count the results of a run.
type totals struct {
	passed, updated, skipped, failed int
	coverage                         []toolCoverage // nil if it was not asked for
}

func (t *totals) add(r *result) {
	switch {
	case r.passed():
		t.passed++
	case r.changed != nil:
		t.updated++
	case r.skipped != "":
		t.skipped++
	default:
		t.failed++
	}
}

// line returns the counts for people.
func (t *totals) line() string {
	text := fmt.Sprintf("%d passed", t.passed)
	if t.updated > 0 {
		text += fmt.Sprintf(", %d updated", t.updated)
	}
	if t.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.skipped)
	}
	return text + fmt.Sprintf(", %d failed", t.failed)
}

// terminal is the report for people.
type terminal struct{ out io.Writer }

func (p terminal) add(r *result) {
	mark, color, text := "✗", cli.Red, r.title()
	switch {
	case r.passed():
		mark, color = "✓", cli.Green
	case r.changed != nil:
		mark, color = "↻", cli.Yellow
	case r.skipped != "":
		mark, color, text = "•", cli.Plain, text+": "+r.skipped
	}
	cli.Sign(p.out, "", color, mark, text)
	cli.Printf(p.out, "%s", r.details("  "))
}

func (p terminal) end(t *totals) {
	cli.Printf(p.out, "%s\n%s", t.line(), coverageText(t.coverage))
}

// details returns the differences of a test, and standard error of its tool.
func (r *result) details(indent string) cli.Lines {
	var b strings.Builder
	for _, d := range r.differences {
		fmt.Fprintf(&b, "%s%s", cli.Sprintf("%s%s\n", indent, d.What), indented(lines(d), indent+"  "))
	}
	if r.stderr != "" {
		fmt.Fprintf(&b, "%sstandard error\n%s", indent, indented(head(r.stderr), indent+"  | "))
	}
	return cli.Lines(b.String())
}

// tap is the report in the Test Anything Protocol.
type tap struct {
	out   io.Writer
	count int
}

func newTAP(out io.Writer, tests int) *tap {
	fmt.Fprintf(out, "TAP version 14\n1..%d\n", tests)
	return &tap{out: out}
}

func (p *tap) add(r *result) {
	p.count++
	title := strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(cli.Line(r.title()))
	if !r.failed() {
		if r.skipped != "" {
			title += " # SKIP " + r.skipped
		}
		cli.Printf(p.out, "ok %d - %s\n", p.count, title)
		return
	}
	cli.Printf(p.out, "not ok %d - %s\n  ---\n  details: |2\n%s  ...\n", p.count, title, r.details("    "))
}

func (p *tap) end(t *totals) {
	for line := range strings.Lines(string(coverageText(t.coverage))) {
		cli.Printf(p.out, "# %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// object is the report as one JSON object.
type object struct {
	out io.Writer
	b   rawjson.Builder
}

func newObject(out io.Writer) *object {
	p := &object{out: out}
	p.b.Object().Name("cases").Array()
	return p
}

func (p *object) add(r *result) {
	p.b.Object().Name("file").String(r.file)
	if r.Line > 0 {
		p.b.Name("line").Int(r.Line)
	}
	p.b.Name("name").String(cmp.Or(r.Name, r.Tool)).Name("tool").String(r.Tool).Name("ok").Bool(!r.failed()).
		Name("seconds").Raw(seconds(r.took))
	if r.skipped != "" {
		p.b.Name("skipped").String(r.skipped)
	}
	if r.changed != nil {
		p.b.Name("updated").Bool(true)
	}
	if r.differences != nil {
		p.b.Name("differences").Array()
		for _, d := range r.differences {
			p.b.Object().Name("what").String(d.What).Name("want").String(head(d.Want)).Name("got").String(head(d.Got)).End()
		}
		p.b.End()
	}
	if r.stderr != "" {
		p.b.Name("stderr").String(head(r.stderr))
	}
	p.b.End()
}

func (p *object) end(t *totals) {
	p.b.End().Name("passed").Int(t.passed).Name("updated").Int(t.updated).Name("skipped").Int(t.skipped).
		Name("failed").Int(t.failed)
	if t.coverage != nil {
		p.b.Name("coverage").Array()
		for _, c := range t.coverage {
			p.b.Object().Name("tool").String(c.tool).Name("cases").Int(c.cases).
				Name("arguments").Strings(c.used).Name("unused").Strings(c.unused).End()
		}
		p.b.End()
	}
	fmt.Fprintf(p.out, "%s\n", p.b.End().Bytes())
}

// seconds returns a duration as a number.
func seconds(d time.Duration) []byte { return strconv.AppendFloat(nil, d.Seconds(), 'f', 3, 64) }

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
