package audit

import (
	"cmp"
	_ "embed" // for the text of the page
	"html/template"
	"io"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

//go:embed page.html
var pageText string

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
	one := shown{Took: e.Took, Queued: e.Queued, Ran: e.Ran, number: e.Time.UnixMicro()}
	for _, cell := range Row(e) {
		one.Cells = append(one.Cells, cutCell(cell))
	}
	p.last.add(one)
	if e.Outcome != events.Success {
		p.wrong.add(one)
	}
	one.number = int64(e.Took)
	p.slowest.add(one)
}

func cutCell(text string) string { return cli.Cut(cli.Line(text), maxCell) }

// A list has the requests with the highest numbers.
type list struct {
	Name    string
	All     int // also those that it no longer has
	Shown   []shown
	Longest int64 // in nanoseconds
}

type shown struct {
	Cells             []string // see [Columns]
	Took, Queued, Ran time.Duration
	number            int64 // for the order
}

func (l *list) add(one shown) {
	l.All++
	if l.Shown = append(l.Shown, one); len(l.Shown) == 2*maxShown {
		l.cut()
	}
}

func (l *list) cut() {
	slices.SortStableFunc(l.Shown, func(a, b shown) int { return cmp.Compare(b.number, a.number) })
	l.Shown = slices.Delete(l.Shown, min(maxShown, len(l.Shown)), len(l.Shown))
}

// maxIntervals is the number of intervals of a timeline.
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
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	p.wrong.Name, p.slowest.Name, p.last.Name = "Refused and failed", "Slowest", "Last"
	lists := []*list{&p.wrong, &p.slowest, &p.last}
	for _, l := range lists {
		l.cut()
		for _, one := range l.Shown {
			l.Longest = max(l.Longest, int64(one.Took))
		}
	}
	highest := figures{}
	for _, f := range p.times.parts {
		for i, n := range f {
			highest[i] = max(highest[i], n)
		}
	}
	table := p.summary.Table()
	return page.Execute(w, map[string]any{
		"All": &p.all, "Half": short(p.all.share(0.5)), "Most": short(p.all.share(0.99)),
		"Lanes": figureNames, "Parts": p.times.parts, "Highest": highest, "Used": max(p.times.used, 12),
		"End": p.times.used, "Each": p.times.each.String(), "Counts": counts, "Lists": lists, "Columns": Columns(),
		"Names": table[0], "Summary": table[1:min(len(table), maxShown+1)], "Pairs": len(table) - 1,
		"At": p.times.at, "Cut": cutCell, "Short": func(n int64) string { return short(time.Duration(n)) },
		"Percent": func(n, of int64) float64 { return 100 * min(float64(n)/float64(max(of, 1)), 1) },
	})
}
