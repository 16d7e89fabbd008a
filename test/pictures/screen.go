package pictures

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
)

// A screen is the text on a terminal after a session. It interprets line breaks, carriage returns
// and colours, which are all that our commands print.
type screen struct {
	lines [][]cell
	row   int
	col   int
	style style
}

type cell struct {
	char rune
	style
}

type style struct {
	colour          int // 1 to 8 for black to white; 0 for the default
	bold, dim, line bool
}

func (s *screen) print(text string) {
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return
			}
			if rest[end] == 'm' {
				s.restyle(rest[:end])
			}
			text = rest[end+1:]
			continue
		}
		var char rune
		for _, char = range text {
			break
		}
		text = text[len(string(char)):]
		switch char {
		case '\r':
			s.col = 0
		case '\n':
			s.row, s.col = s.row+1, 0
		default:
			s.put(char)
		}
	}
}

// columns is the width of the terminal. Longer lines continue on the next one.
const columns = 100

func (s *screen) put(char rune) {
	if s.col == columns {
		s.row, s.col = s.row+1, 0
	}
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
	line := &s.lines[s.row]
	for len(*line) <= s.col {
		*line = append(*line, cell{char: ' '})
	}
	(*line)[s.col] = cell{char, s.style}
	s.col++
}

// restyle applies the parameters of a colour sequence (SGR).
func (s *screen) restyle(parameters string) {
	for word := range strings.SplitSeq(parameters, ";") {
		n, _ := strconv.Atoi(word)
		switch {
		case n == 0:
			s.style = style{}
		case n == 1:
			s.style.bold = true
		case n == 2:
			s.style.dim = true
		case n == 4:
			s.style.line = true
		case n == 22:
			s.style.bold, s.style.dim = false, false
		case n == 24:
			s.style.line = false
		case n >= 30 && n <= 37:
			s.style.colour = n - 29
		case n == 39:
			s.style.colour = 0
		}
	}
}

const (
	charWidth  = 8.4
	lineHeight = 19
	margin     = 16
)

// colours follow the colours of the reader's system: light ones, and dark ones.
const colours = `svg{color-scheme:light dark}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;fill:#24292f;white-space:pre}
.bg{fill:#f6f8fa;stroke:#d0d7de}.b{font-weight:bold}.d{opacity:.65}.u{text-decoration:underline}.p{fill:#6e7781}
.c2{fill:#b3261e}.c3{fill:#1a7f37}.c4{fill:#8a5b00}.c5{fill:#0550ae}.c6{fill:#8250df}.c7{fill:#0a6b74}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117;stroke:#30363d}.p{fill:#8b949e}
.c2{fill:#ff8b80}.c3{fill:#56d364}.c4{fill:#e3b341}.c5{fill:#79c0ff}.c6{fill:#d2a8ff}.c7{fill:#76e3ea}}
`

// svg returns the screen as a picture for light and dark pages. title is its text for readers who
// cannot see it.
func (s *screen) svg(title string) string {
	longest := 0
	for _, line := range s.lines {
		longest = max(longest, len(line))
	}
	width, height := 2*margin+int(float64(longest)*charWidth+1), 2*margin+len(s.lines)*lineHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+
		"\n<title>%s</title>\n<style>%s</style>\n"+`<rect class="bg" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n",
		width, height, width, height, html.EscapeString(title), colours, width-1, height-1)
	for row, line := range s.lines {
		y := margin + 14 + row*lineHeight
		for start := 0; start < len(line); {
			end := start
			var run strings.Builder
			for ; end < len(line) && line[end].style == line[start].style; end++ {
				run.WriteRune(line[end].char)
			}
			if strings.TrimSpace(run.String()) != "" {
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", margin+float64(start)*charWidth, y,
					float64(end-start)*charWidth, line[start].class(), html.EscapeString(run.String()))
			}
			start = end
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (s style) class() string {
	var classes []string
	for name, on := range map[string]bool{"b": s.bold, "d": s.dim, "u": s.line, fmt.Sprint("c", s.colour): s.colour > 1} {
		if on {
			classes = append(classes, name)
		}
	}
	if classes == nil {
		return ""
	}
	slices.Sort(classes)
	return ` class="` + strings.Join(classes, " ") + `"`
}
