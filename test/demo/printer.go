package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// A printer shows the conversation on a terminal or in a file.
type printer struct {
	out    io.Writer
	width  int
	colour bool

	mu    sync.Mutex
	steps int
}

type direction string

const (
	fromClient direction = "→"
	fromServer direction = "←"
)

// The colours of headings, the client, the server, errors and details.
const (
	bold, cyan, green, red, dim = "1", "36", "32", "31", "2"
)

func (p *printer) paint(code, text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// step begins a new part of the story.
func (p *printer) step(title, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps++
	fmt.Fprintf(p.out, "\n%s  %s\n", p.paint(bold, fmt.Sprintf("%d. %s", p.steps, title)), why)
}

// note adds a remark.
func (p *printer) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "    %s\n", fmt.Sprintf(format, args...))
}

// message prints a line of the protocol, and returns its method, "" for an
// answer.
func (p *printer) message(d direction, line []byte) string {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(line, &m); err != nil {
		m.Method, m.Params = "?", line
	}
	what, content, colour := m.Method, m.Params, cyan
	if d == fromServer {
		colour = green
	}
	switch {
	case m.Error != nil:
		what, content, colour = "error", m.Error, red
	case m.Result != nil:
		what, content = "result", m.Result
	}
	if m.ID != nil {
		what += " #" + string(m.ID)
	}
	room := p.width - 4 - utf8.RuneCountInString(what) - 1
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "  %s %s %s\n", p.paint(colour, string(d)), p.paint(colour, what),
		p.paint(dim, trim(string(content), room)))
	return m.Method
}

// trim cuts a text to a width.
func trim(text string, width int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}
