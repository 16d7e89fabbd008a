package answers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// A Person answers questions at a terminal.
type Person struct {
	in  *bufio.Reader
	out Terminal

	asking  sync.Mutex // one question at a time
	lines   chan line  // typed lines
	reading bool       // a goroutine reads a line; guarded by asking

	mu     sync.Mutex
	cancel context.CancelCauseFunc // cancels the open question; nil without one
}

// A Terminal is the screen that a person reads.
type Terminal interface {
	io.Writer
	Returned() // the person typed a line
}

type line struct {
	text string
	err  error
}

// NewPerson returns the person who types in and reads out.
func NewPerson(in io.Reader, out Terminal) *Person {
	return &Person{in: bufio.NewReader(in), out: out, lines: make(chan line, 1)}
}

// errInterrupted ends a question on Ctrl-C.
var errInterrupted = errors.New("interrupted")

// interrupt answers the open question with "cancel". It reports whether there was one.
func (p *Person) interrupt() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel == nil {
		return false
	}
	p.cancel(errInterrupted)
	return true
}

// ask asks the person a question. When ctx ends, the question is withdrawn.
func (p *Person) ask(ctx context.Context, f *form) json.RawMessage {
	p.asking.Lock()
	defer p.asking.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.open(cancel)
	defer p.open(nil)

	question := strings.ReplaceAll(strings.TrimRight(cli.Printable(f.message), "\n"), "\n", "\n  ")
	cli.Printf(p.out, "? %s\n  (Ctrl-D declines, Ctrl-C cancels)\n", cli.Lines(question))
	content, err := p.fill(ctx, f)
	switch {
	case err == nil:
		return action("accept", content)
	case err == io.EOF:
		fmt.Fprintln(p.out, "\ndeclined")
		return action("decline", nil)
	case err == errInterrupted:
		fmt.Fprintln(p.out, "\ncancelled")
	default:
		fmt.Fprintln(p.out, "\n(the tool no longer waits for an answer)")
	}
	return action("cancel", nil)
}

func (p *Person) open(cancel context.CancelCauseFunc) {
	p.mu.Lock()
	p.cancel = cancel
	p.mu.Unlock()
}

// fill lets the person fill in a form or open a page. The error is io.EOF if the person declines,
// or the cause of the context.
func (p *Person) fill(ctx context.Context, f *form) (json.RawMessage, error) {
	if f.url != "" {
		cli.Printf(p.out, "  open %s\n  and press Enter: ", f.url)
		_, err := p.line(ctx)
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for i := range f.fields {
		value, err := p.value(ctx, &f.fields[i])
		if err != nil {
			return nil, err
		}
		if value != nil {
			values[f.fields[i].name] = value
		}
	}
	content, _ := f.content(values)
	return content, nil
}

// value asks for a field until the input is valid. nil omits the field.
func (p *Person) value(ctx context.Context, f *field) (json.RawMessage, error) {
	for n, c := range f.choices {
		cli.Printf(p.out, "  %d) %s", n+1, c.value)
		if c.title != "" && c.title != c.value {
			cli.Printf(p.out, "  %s", c.title)
		}
		fmt.Fprintln(p.out)
	}
	for {
		cli.Printf(p.out, "  %s%s: ", f.title, f.expects())
		text, err := p.line(ctx)
		switch {
		case err != nil:
			return nil, err
		case text == "" && f.initial != nil:
			return f.initial, nil
		case text == "" && !f.required:
			return nil, nil
		case text == "":
			fmt.Fprintln(p.out, "  a value is required")
			continue
		}
		value, err := f.parse(text)
		if err == nil {
			return value, nil
		}
		cli.Printf(p.out, "  %s\n", err)
	}
}

// expects returns the expected input for a field, and its default.
func (f *field) expects() string {
	var words []string
	if f.description != "" {
		words = append(words, f.description)
	}
	switch {
	case f.kind == "array":
		words = append(words, "any, separated by commas")
	case f.kind == "boolean":
		words = append(words, "y/n")
	case f.kind == "number" || f.kind == "integer":
		words = append(words, f.kind+f.bounds())
	case rawjson.TextOf(f.schema, "format") != "":
		words = append(words, rawjson.TextOf(f.schema, "format"))
	}
	if !f.required && f.initial == nil {
		words = append(words, "may be left empty")
	}
	text := ""
	if words != nil {
		text = " (" + cli.Line(strings.Join(words, "; ")) + ")"
	}
	if f.initial != nil {
		text += " [" + cli.Line(f.shownInitial()) + "]"
	}
	return text
}

func (f *field) bounds() string {
	least, most := rawjson.Get(f.schema, "minimum"), rawjson.Get(f.schema, "maximum")
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf(" from %s to %s", least, most)
	case least != nil:
		return fmt.Sprintf(" from %s", least)
	case most != nil:
		return fmt.Sprintf(" up to %s", most)
	}
	return ""
}

// shownInitial returns a default in the form in which users type it.
func (f *field) shownInitial() string {
	if text, ok := rawjson.Text(f.initial); ok {
		return text
	}
	switch rawjson.KindOf(f.initial) {
	case rawjson.Bool:
		if rawjson.True(f.initial) {
			return "y"
		}
		return "n"
	case rawjson.Array:
		list, _ := rawjson.Strings(f.initial)
		return strings.Join(list, ", ")
	}
	return string(f.initial)
}

// line waits for the next typed line. Reading cannot be cancelled, so a line that comes too late
// answers the next question.
func (p *Person) line(ctx context.Context) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	if !p.reading {
		p.reading = true
		go func() {
			text, err := p.in.ReadString('\n')
			p.lines <- line{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	select {
	case l := <-p.lines:
		p.reading = false
		p.out.Returned()
		if l.err != nil && l.text != "" { // Ctrl-D within a line
			l.err = nil
		}
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
