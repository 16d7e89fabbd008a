package suite

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/userfile"
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
	p.b.Optional("skipped", r.skipped)
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
	p.b.Optional("stderr", head(r.stderr))
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

// junit is the report as an XML file with the elements of JUnit, which CI systems show.
type junit struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suites   []*junitSuite

	file  string
	write func(error) // receives the result of writing
}

type junitSuite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Cases    []junitCase
}

type junitCase struct {
	XMLName xml.Name     `xml:"testcase"`
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	File    string       `xml:"file,attr"`
	Line    int          `xml:"line,attr,omitempty"`
	Time    string       `xml:"time,attr"`
	Failure *junitRemark `xml:"failure"`
	Skipped *junitRemark `xml:"skipped"`
}

type junitRemark struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (p *junit) add(r *result) {
	if n := len(p.Suites); n == 0 || p.Suites[n-1].Name != r.file {
		p.Suites = append(p.Suites, &junitSuite{Name: r.file})
	}
	suite := p.Suites[len(p.Suites)-1]
	c := junitCase{Name: cmp.Or(r.Name, r.Tool), Class: r.Tool, File: r.file, Line: r.Line, Time: string(seconds(r.took))}
	p.Tests++
	suite.Tests++
	if r.skipped != "" {
		c.Skipped = &junitRemark{Message: r.skipped}
	}
	if r.failed() {
		p.Failures++
		suite.Failures++
		c.Failure = &junitRemark{r.differences[0].What, string(r.details(""))}
	}
	suite.Cases = append(suite.Cases, c)
}

// end writes the file.
func (p *junit) end(*totals) {
	text, err := xml.MarshalIndent(p, "", "  ")
	if err == nil {
		text = append([]byte(xml.Header), append(text, '\n')...)
		o := userfile.Options{Max: 1 << 30, Mode: 0o644}
		err = edit(context.Background(), p.file, o, func(userfile.File) ([]byte, error) { return text, nil })
	}
	if err != nil {
		err = &cli.Error{Code: cli.CodeInvalid, Op: "write", Subject: p.file, Cause: err}
	}
	p.write(err)
}

// A toolCoverage is the part of a tool that tests use.
type toolCoverage struct {
	tool         string
	cases        int
	used, unused []string // arguments
}

// coverage returns the coverage of each tool of the project.
func (r *runner) coverage(ctx context.Context) ([]toolCoverage, error) {
	items, err := r.listed(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]toolCoverage, 0, len(items))
	for _, item := range items {
		c := toolCoverage{tool: item.Name}
		given := map[string]bool{}
		for _, t := range r.tests {
			if t.Tool != item.Name {
				continue
			}
			c.cases++
			for name := range rawjson.All(t.Arguments) {
				given[name] = true
			}
		}
		for _, m := range rawjson.Members(rawjson.Path(item.JSON, "inputSchema", "properties")) {
			if given[m.Name] {
				c.used = append(c.used, m.Name)
			} else {
				c.unused = append(c.unused, m.Name)
			}
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b toolCoverage) int { return strings.Compare(a.tool, b.tool) })
	return list, nil
}

// coverageText returns a line with the numbers, and one for each tool that is not covered.
func coverageText(list []toolCoverage) cli.Lines {
	if list == nil {
		return ""
	}
	tools, used, all := 0, 0, 0
	var b strings.Builder
	for _, c := range list {
		used += len(c.used)
		all += len(c.used) + len(c.unused)
		switch {
		case c.cases == 0:
			b.WriteString(cli.Sprintf("  %s: no case\n", c.tool))
			continue
		case c.unused != nil:
			b.WriteString(cli.Sprintf("  %s: no case has %s\n", c.tool, strings.Join(c.unused, ", ")))
		}
		tools++
	}
	counts := cli.Sprintf("coverage: %d of %d tools, %d of %d arguments\n", tools, len(list), used, all)
	return cli.Lines(counts + b.String())
}
