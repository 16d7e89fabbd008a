package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// The columns: our server, the floor of the figure, and the other servers.
const (
	ours   = "ours"
	before = "before" // an earlier version of our server, on request
	floor  = "floor"
)

var otherNames = []string{"go-sdk", "mcp-go", "ts-sdk"}

// A figure is a row: the result of each server, and comparisons of them.
type figure struct {
	Name   string            `json:"name"`
	Floor  string            `json:"floor,omitempty"` // description of the floor
	Unit   string            `json:"unit"`
	Values map[string]*value `json:"values"`
	Claims []claim           `json:"claims,omitempty"`

	samples map[string]sample
	more    bool // more is better
}

// A value is the median of the rounds, between the quartiles.
type value struct {
	Median float64 `json:"median"`
	Low    float64 `json:"q1"`
	High   float64 `json:"q3"`
	Rounds int     `json:"rounds"`
}

// A claim compares two columns, and may have a target.
type claim struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"` // of the 95 % interval
	High   float64 `json:"high"`
	Target string  `json:"target,omitempty"`
	Met    bool    `json:"met"`
	Unit   string  `json:"unit,omitempty"` // of a difference; else it is a ratio, or has the unit of the figure
}

func newFigure(name, floor, unit string) *figure {
	return &figure{Name: name, Floor: floor, Unit: unit, Values: map[string]*value{}, samples: map[string]sample{},
		more: unit == "/s"}
}

func (f *figure) add(column string, s sample) {
	if len(s) == 0 {
		return
	}
	f.samples[column] = s
	f.Values[column] = &value{s.median(), s.quantile(0.25), s.quantile(0.75), len(s)}
}

// against compares our column with another one; a missing one is passed over.
func (f *figure) against(column, target string, met func(float64) bool) {
	f.claim("÷ "+column, f.samples[ours], f.samples[column], ratio, target, met)
}

func (f *figure) claim(what string, a, b sample, how func(a, b sample) float64, target string,
	met func(float64) bool) {
	if a == nil || b == nil {
		return
	}
	c := claim{What: what, Target: target}
	c.Value, c.Low, c.High = compare(a, b, how)
	c.Met = met != nil && met(c.Value)
	f.Claims = append(f.Claims, c)
}

// atMost, atLeast and below claim a ratio to a column.
func (f *figure) atMost(column string, bound float64) {
	f.against(column, fmt.Sprintf("≤ %g", bound), func(v float64) bool { return v <= bound })
}

func (f *figure) atLeast(column string, bound float64) {
	f.against(column, fmt.Sprintf("≥ %g", bound), func(v float64) bool { return v >= bound })
}

func (f *figure) below(column string) {
	f.against(column, "< 1", func(v float64) bool { return v < 1 })
}

// atMostMore claims that ours is at most bound above a column, in the figure's unit.
func (f *figure) atMostMore(column string, how func(a, b sample) float64, bound float64) {
	f.claim("− "+column, f.samples[ours], f.samples[column], how, fmt.Sprintf("≤ %g %s", bound, f.Unit),
		func(v float64) bool { return v <= bound })
	if n := len(f.Claims); n > 0 {
		f.Claims[n-1].Unit = f.Unit
	}
}

// absolute claims something about our own value.
func (f *figure) absolute(bound float64) {
	if v := f.Values[ours]; v != nil {
		f.Claims = append(f.Claims, claim{"ours", v.Median, v.Low, v.High, fmt.Sprintf("≤ %g %s", bound, f.Unit),
			v.Median <= bound, ""})
	}
}

// bestOther returns the other server with the best result, or "" without one.
func (f *figure) bestOther() string {
	best := ""
	for _, p := range otherNames {
		if f.Values[p] == nil {
			continue
		}
		if best == "" || (f.Values[p].Median < f.Values[best].Median) != f.more {
			best = p
		}
	}
	return best
}

// A report is written as it grows: the table line by line, the document at the
// end.
type report struct {
	out      io.Writer
	Version  string    `json:"version"`
	Machine  string    `json:"machine"`
	Quick    bool      `json:"quick"`
	Figures  []*figure `json:"figures"`
	Packages []string  `json:"packages,omitempty"` // lines of go test -bench
	Left     []string  `json:"leftOut,omitempty"`
	columns  []string
}

func (r *report) title(text string) {
	fmt.Fprintf(r.out, "\n%s\n", text)
	fmt.Fprintln(r.out, row("", r.columns, "we", "is", "95 %", "target", ""))
}

// columns are what there is in a table.
func (p *fixture) columns() []string {
	list := []string{ours}
	if p.before {
		list = append(list, before)
	}
	return append(append(list, floor), otherNames...)
}

// leaveOut reports a figure that is not measured, and the reason.
func (r *report) leaveOut(what, why string) {
	line := what + ": left out: " + why
	r.Left = append(r.Left, line)
	fmt.Fprintln(r.out, line)
}

// put shows a figure.
func (r *report) put(f *figure) {
	r.Figures = append(r.Figures, f)
	if f.more {
		f.atLeast(before, 0.95)
	} else {
		f.atMost(before, 1.05)
	}
	name := f.Name
	if f.Floor != "" {
		name += " (" + f.Floor + ")"
	}
	cells := make([]string, 0, len(r.columns))
	for _, column := range r.columns {
		cell := ""
		if v := f.Values[column]; v != nil {
			cell = show(v.Median, f.Unit)
		}
		cells = append(cells, cell)
	}
	claims := f.Claims
	if len(claims) == 0 {
		claims = []claim{{}}
	}
	for _, c := range claims {
		is, spread, verdict := "", "", ""
		if c.What != "" {
			is = c.show(c.Value)
		}
		if c.Low < c.High { // there was more than one round
			spread = "[" + c.show(c.Low) + ", " + c.show(c.High) + "]"
		}
		if c.Target != "" {
			verdict = "not met"
			if c.Met {
				verdict = "met"
			}
		}
		fmt.Fprintln(r.out, row(name, cells, c.What, is, spread, c.Target, verdict))
		name, cells = "", make([]string, len(cells)) // once is enough
	}
}

// row lays a line out.
func row(name string, cells []string, what, is, spread, target, verdict string) string {
	var b strings.Builder
	b.WriteString("  " + pad(name, 46))
	for _, c := range cells {
		b.WriteString(" " + strings.Repeat(" ", max(0, 10-len([]rune(c)))) + c)
	}
	fmt.Fprintf(&b, "  %s %s %s %s %s", pad(what, 8), pad(is, 6), pad(spread, 15), pad(target, 9), verdict)
	return strings.TrimRight(b.String(), " ")
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

func (c *claim) show(v float64) string {
	if c.Unit == "" {
		return number(v)
	}
	return show(v, c.Unit)
}

func show(v float64, unit string) string {
	switch {
	case unit == "ms" && math.Abs(v) < 1:
		return number(1000*v) + " µs"
	case unit == "/s" && v >= 10000:
		return number(v/1000) + " k/s"
	case unit == "": // a count
		return fmt.Sprintf("%g", v)
	}
	return number(v) + " " + unit
}

// number shows three digits, or whole numbers where they are larger.
func number(v float64) string {
	digits := 2
	if a := math.Abs(v); a >= 100 {
		digits = 0
	} else if a >= 10 {
		digits = 1
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// summary counts what was met.
func (r *report) summary() {
	met, all := 0, 0
	var missed []string
	for _, f := range r.Figures {
		for _, c := range f.Claims {
			if c.Target == "" {
				continue
			}
			all++
			if c.Met {
				met++
			} else {
				missed = append(missed, fmt.Sprintf("  %s: %s is %s, target %s", f.Name, c.What, c.show(c.Value),
					c.Target))
			}
		}
	}
	fmt.Fprintf(r.out, "\n%d of %d targets met\n", met, all)
	if len(missed) > 0 {
		fmt.Fprintf(r.out, "not met:\n%s\n", strings.Join(missed, "\n"))
	}
}

func (r *report) document() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
