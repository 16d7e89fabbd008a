package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

// A Choice is an entry of a list that a person picks from.
type Choice struct {
	Label string
	Text  string // explains it
	On    bool
}

// errNotPicked is the error if the input ends before the person accepts.
var errNotPicked = errors.New("nothing was picked")

// Pick shows a list with checkboxes, and lets the person change them by their numbers until an
// empty line accepts the list. The streams are a terminal. It works without cursor movement, so
// screen readers can read it. The error is the cause of ctx if that ends.
func Pick(ctx context.Context, s Streams, title string, list []Choice) error {
	Printf(s.Out, "%s\n", title)
	show := func(i int) {
		box := "[ ]"
		if list[i].On {
			box = "[x]"
		}
		line := Sprintf("%s %3d  %s %s", box, i+1, Pad(Line(list[i].Label), 24), list[i].Text)
		Printf(s.Out, "%s\n", Cut(line, Width(s.Out, 80)))
	}
	for i := range list {
		show(i)
	}
	in := bufio.NewReader(io.LimitReader(s.In, 1<<16))
	for {
		Printf(s.Out, "Numbers to change, such as 3 5-7; all or none; Enter to accept: ")
		answer, err := readLine(ctx, in)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			return errNotPicked
		}
		words := strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' })
		if len(words) == 0 {
			return nil
		}
		for _, word := range words {
			from, to, ok := numbers(word, len(list))
			if !ok {
				Printf(s.Out, "%s is not a number from 1 to %d\n", Line(word), len(list))
				break
			}
			for i := from; i <= to; i++ {
				list[i].On = word == "all" || word != "none" && !list[i].On
				show(i)
			}
		}
	}
}

// readLine reads a line, or returns the cause of ctx if that ends. Then a goroutine goes on reading until the process
// ends, because nothing can interrupt it.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := in.ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// numbers returns the first and the last index that a word means: "3", "5-7", "all" or "none".
func numbers(word string, n int) (from, to int, ok bool) {
	if word == "all" || word == "none" {
		return 0, n - 1, true
	}
	first, last, isRange := strings.Cut(word, "-")
	if !isRange {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	return a - 1, b - 1, err == nil && err2 == nil && a >= 1 && a <= b && b <= n
}

// Confirm asks a question on a terminal. Only yes is consent. The answer of an ended input is no, and so is the end of
// ctx.
func Confirm(ctx context.Context, s Streams, w io.Writer, question string) bool {
	Printf(w, "%s [y/N] ", question)
	answer, _ := readLine(ctx, bufio.NewReader(io.LimitReader(s.In, 1<<10)))
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
