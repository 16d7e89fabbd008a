package audit

import (
	"bytes"
	"cmp"
	_ "embed" // for the beginning of the page
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

//go:embed page.html
var pageHead string

const (
	maxShown = 100 // requests in a list of a page, and rows in its summary
	maxCell  = 100 // characters of a text
)

// A Page shows requests as HTML. Neither its size nor its memory depends on their number.
type Page struct {
	summary              Summary
	all                  group
	times                timeline
	wrong, slowest, last list
}

// Add adds a line.
func (p *Page) Add(e *trail.Entry) {
	if !e.IsCall() || e.Interim {
		return
	}
	p.summary.Add(e)
	p.all.add(e)
	p.times.add(e)
	one := shown{requests: e.Requests(), took: e.Took, queued: e.Queued, ran: e.Ran, number: e.Time.UnixMicro()}
	for _, cell := range Row(e) {
		one.cells = append(one.cells, cutCell(cell))
	}
	p.last.add(one)
	if e.Outcome != events.Success {
		p.wrong.add(one)
	}
	one.number = int64(e.Took)
	p.slowest.add(one)
}

func cutCell(text string) string { return cli.Cut(cli.Line(text), maxCell) }

// A list has the requests with the highest numbers. It drops the others.
type list struct {
	all  int // the number of added requests, including those that are not kept
	kept []shown
}

type shown struct {
	cells             []string // see [Columns]
	requests          int      // see [trail.Entry.Requests]
	took, queued, ran time.Duration
	number            int64 // for the order
}

func (l *list) add(one shown) {
	l.all += one.requests
	if l.kept = append(l.kept, one); len(l.kept) == 2*maxShown {
		l.cut()
	}
}

func (l *list) cut() {
	slices.SortStableFunc(l.kept, func(a, b shown) int { return cmp.Compare(b.number, a.number) })
	l.kept = slices.Delete(l.kept, min(maxShown, len(l.kept)), len(l.kept))
}

// maxIntervals is the maximum number of intervals of a timeline.
const maxIntervals = 96

// A timeline has figures of intervals of the same length. The length doubles when there would be too many.
type timeline struct {
	begin time.Time
	each  time.Duration
	used  int
	parts [maxIntervals]figures
}

var figureNames = [...]string{"Requests", "Refused", "Failed", "Longest wait", "Longest script"}

const counts = 3 // of the figures; the others are times

type figures [len(figureNames)]int64

func (f *figures) merge(other figures) {
	for i, n := range other {
		if i < counts {
			f[i] += n
		} else {
			f[i] = max(f[i], n)
		}
	}
}

func (t *timeline) add(e *trail.Entry) {
	if t.each == 0 {
		t.begin, t.each = e.Time.Truncate(time.Second), time.Second
	}
	since := max(e.Time.Sub(t.begin), 0) // clocks can go back
	for since/t.each >= maxIntervals {
		wider := timeline{begin: t.begin, each: 2 * t.each, used: (t.used + 1) / 2}
		for i, f := range t.parts {
			wider.parts[i/2].merge(f)
		}
		*t = wider
	}
	at := int(since / t.each)
	t.used = max(t.used, at+1)
	var one group
	one.add(e)
	t.parts[at].merge(figures{int64(one.Calls), int64(one.Refused), int64(one.Failed), int64(e.Queued), int64(e.Ran)})
}

// at returns the time at which an interval begins.
func (t *timeline) at(i int) string { return moment(t.begin.Add(time.Duration(i) * t.each)) }

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	var h markup
	h.WriteString(pageHead)
	h.printf("<main>\n<h1>Who called what</h1>\n")
	if p.all.Calls == 0 {
		h.printf("<p>No request was chosen.</p>\n")
	} else {
		h.overview(p)
		h.timeline(&p.times)
		h.pairs(p.summary.Table())
		h.list("Refused and failed", &p.wrong)
		h.list("Slowest", &p.slowest)
		h.list("Last", &p.last)
	}
	h.printf("</main>\n</html>\n")
	_, err := w.Write(h.Bytes())
	return err
}

// A markup is HTML that is being written.
type markup struct{ bytes.Buffer }

// printf writes the markup of a format. Arguments that are strings are escaped, because clients choose them.
func (h *markup) printf(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = html.EscapeString(text)
		}
	}
	fmt.Fprintf(&h.Buffer, format, args...)
}

func (h *markup) overview(p *Page) {
	h.printf(`<p class="quiet">%s to %s</p>`+"\n", p.times.at(0), p.times.at(p.times.used))
	h.printf(`<svg width="0" height="0" aria-hidden="true"><defs><pattern id="wait" width="5" height="5" ` +
		`patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V5"/></pattern></defs></svg>`)
	h.printf("<dl>\n")
	for _, figure := range [][2]string{
		{"requests", strconv.Itoa(p.all.Calls)}, {"refused", strconv.Itoa(p.all.Refused)},
		{"failed", strconv.Itoa(p.all.Failed)}, {"half answered within", short(p.all.share(0.5))},
		{"99 % answered within", short(p.all.share(0.99))},
	} {
		h.printf("<div><dt>%s</dt><dd>%s</dd></div>\n", figure[0], figure[1])
	}
	h.printf("</dl>\n")
}

func (h *markup) timeline(t *timeline) {
	h.printf("<h2>Timeline <small>one bar for each %s</small></h2>\n", t.each.String())
	for lane, name := range figureNames {
		text := func(n int64) string { return cmp.Or(short(time.Duration(n)), "0 ms") }
		if lane < counts {
			text = func(n int64) string { return strconv.FormatInt(n, 10) }
		}
		highest := int64(0)
		for _, f := range t.parts {
			highest = max(highest, f[lane])
		}
		h.printf(`<div class="lane"><div>%s<br><small>at most %s</small></div>`, name, text(highest))
		h.printf(`<svg viewBox="0 0 %d 100" preserveAspectRatio="none" role="img" aria-label="%s: at most %s">`+
			`<g transform="matrix(1 0 0 -1 0 100)" class="run">`, max(t.used, 12), name, text(highest))
		for i, f := range t.parts {
			if f[lane] != 0 {
				h.printf("\n"+`<rect x="%d" width=".85" height="%v"><title>%s: %s</title></rect>`, i,
					percent(f[lane], highest), t.at(i), text(f[lane]))
			}
		}
		h.printf("</g></svg></div>\n")
	}
	h.printf(`<div class="axis quiet"><span>%s</span><span>%s</span></div>`+"\n", t.at(0), t.at(t.used))
}

func percent(n, of int64) float64 { return 100 * min(float64(n)/float64(max(of, 1)), 1) }

func (h *markup) pairs(t cli.Table) {
	shown := t[1:min(len(t), maxShown+1)]
	h.printf("<h2>By tool and caller <small>%d of %d pairs</small></h2>\n", len(shown), len(t)-1)
	h.head("pairs", t[0])
	for _, row := range shown {
		h.printf("<tr>")
		for i, text := range row {
			h.printf(`<td data-name="%s">%s</td>`, t[0][i], cutCell(text))
		}
		h.printf("</tr>\n")
	}
	h.printf("</tbody></table>\n")
}

// head begins a table.
func (h *markup) head(class string, names []string) {
	h.printf(`<table class="%s"><thead><tr>`, class)
	for _, name := range names {
		h.printf("<th>%s</th>", name)
	}
	h.printf("</tr></thead><tbody>\n")
}

// The columns of a list that show more than text.
const outcomeColumn, tookColumn = 3, 7

func (h *markup) list(name string, l *list) {
	if l.all == 0 {
		return
	}
	l.cut()
	longest, requests := int64(0), 0
	for _, one := range l.kept {
		longest, requests = max(longest, int64(one.took)), requests+one.requests
	}
	h.printf("<h2>%s <small>%d of %d requests</small></h2>\n", name, requests, l.all)
	h.WriteString(`<p class="quiet">` + key(`fill="url(#wait)"`, "waited") + key(`class="run"`, "script") +
		key(`class="whole"`, "all of it") + "</p>\n")
	names := Columns()
	h.head("calls", names)
	for _, one := range l.kept {
		h.printf("<tr>")
		for i, text := range one.cells {
			h.printf(`<td data-name="%s">`, names[i])
			if i == outcomeColumn {
				h.printf("%s ", signOf(text))
			}
			h.printf("%s", text)
			if i == tookColumn {
				waited := percent(int64(one.queued), longest)
				h.printf(`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">`+
					`<rect class="whole" height="10" width="%v"/><rect height="10" fill="url(#wait)" width="%v"/>`,
					percent(int64(one.took), longest), waited)
				h.printf(`<rect class="run" height="10" x="%v" width="%v"/></svg>`, waited, percent(int64(one.ran), longest))
			}
			h.printf("</td>")
		}
		h.printf("</tr>\n")
	}
	h.printf("</tbody></table>\n")
}

// key returns a small bar with an attribute, which explains the colours of a timeline.
func key(attribute, text string) string {
	return `<svg class="key" viewBox="0 0 16 10" aria-hidden="true"><rect ` + attribute +
		` width="16" height="10"/></svg> ` + text + "\n"
}

// signOf returns the sign of an outcome, for people who do not see colours.
func signOf(outcome string) string {
	switch events.Outcome(outcome) {
	case events.Success:
		return "✓"
	case events.Denied:
		return "⊘"
	}
	return "✗"
}
