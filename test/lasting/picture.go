//go:build linux

package lasting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// ParseRuns reads the lines of the file of figures.
func ParseRuns(text []byte) (list []*Figures, err error) {
	for line := range bytes.Lines(text) {
		f := &Figures{}
		if err := json.Unmarshal(line, f); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// scripts returns the number of calls that ran a script.
func (f *Figures) scripts() (n int) {
	for _, k := range []kind{plain, sdk, confined, fail, large, hang, cancel, complete} {
		n += f.Kinds[k]
	}
	return n
}

func (f *Figures) faults() (n int) {
	for _, count := range f.Faults {
		n += count
	}
	return n
}

// Table returns the runs as a table of a page. It ends with the sum of the runs without a violation, and of all.
func Table(runs []*Figures) string {
	var b strings.Builder
	b.WriteString("| began | over | seed | calls | of scripts | faults | calls a second | plain script, p50 and p99 |" +
		" memory | violations |\n|---|---|---|---|---|---|---|---|---|---|\n")
	sum := func(name string, counts func(f *Figures) bool) {
		calls, scripts, faults, violations := 0, 0, 0, 0
		for _, f := range runs {
			if counts(f) {
				calls, scripts, faults = calls+f.Calls, scripts+f.scripts(), faults+f.faults()
				violations += f.Violations
			}
		}
		fmt.Fprintf(&b, "| **%s** | | | **%s** | **%s** | **%s** | | | | **%d** |\n", name, number(calls), number(scripts),
			number(faults), violations)
	}
	for _, f := range runs {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %.0f | %.0f and %.0f ms | %.0f MB | %d |\n",
			strings.Replace(f.Date[:16], "T", " ", 1), f.Over, f.Seed, number(f.Calls), number(f.scripts()),
			number(f.faults()), f.Rate, f.PlainP50, f.PlainP99, float64(f.Memory)/1024, f.Violations)
	}
	sum("without a violation", func(f *Figures) bool { return f.Violations == 0 })
	sum("all", func(*Figures) bool { return true })
	return b.String()
}

// number returns a number with a comma before each three digits.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

const pictureHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 250" width="720" height="250" role="img">
<title>Calls a second in each piece, and the violations</title>
<style>svg{color-scheme:light dark}
text{font:13px system-ui,sans-serif;fill:#24292f}.e{text-anchor:end}.m{text-anchor:middle}
.bg{fill:#f6f8fa;stroke:#d0d7de}.l{fill:#d0d7de}.stdio{fill:#0550ae}.http{fill:#1a7f3755;stroke:#1a7f37}.bad{fill:#b3261e;font-weight:bold}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117;stroke:#30363d}.l{fill:#30363d}
.stdio{fill:#79c0ff}.http{fill:#56d36455;stroke:#56d364}.bad{fill:#ff8b80}}
</style>
<rect class="bg" x=".5" y=".5" width="719" height="249" rx="8"/>
`

// Picture returns an SVG with a bar for each run.
func Picture(runs []*Figures) string {
	const left, right, top, bottom = 60.0, 700.0, 50.0, 205.0
	most := 100.0
	for _, f := range runs {
		most = max(most, f.Rate)
	}
	var b strings.Builder
	b.WriteString(pictureHead)
	label := func(class string, x, y float64, text string) {
		fmt.Fprintf(&b, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, x, y, text)
	}
	bar := func(class string, x, y, width, height float64) {
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", class, x, y, width, height)
	}
	label("", 16, 28, "Calls a second, with faults")
	bar("stdio", 420, 17, 12, 12)
	label("", 438, 28, "stdio, 6 servers")
	bar("http", 570, 17, 12, 12)
	label("", 588, 28, "HTTP, 3 replicas")
	for value := 0.0; value <= most; value += 100 {
		y := bottom - value/most*(bottom-top)
		bar("l", left, y, right-left, 1)
		label("e", 52, y+4, fmt.Sprint(value))
	}
	step := (right - left) / float64(max(len(runs), 1))
	calls := 0
	for i, f := range runs {
		x, height := left+step*(float64(i)+0.15), f.Rate/most*(bottom-top)
		bar(f.Over, x, bottom-height, step*0.7, height)
		if f.Violations > 0 {
			label("bad m", x+step*0.35, bottom-height-5, "✗")
		}
		if calls += f.Calls; (len(runs)-i)%2 == 1 {
			label("m", x+step*0.35, 222, fmt.Sprintf("%dk", calls/1000))
		}
	}
	label("", 16, 241, "calls in all; ✗: a check failed")
	b.WriteString("</svg>\n")
	return b.String()
}
