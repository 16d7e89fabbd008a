package jq

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/itchyny/gojq"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// version is the output of --version: the version of jq that the program is compatible with, then its own name.
const version = "jq-1.7.1-mcp-bash"

// The exit codes of the program, which are the same as jq's.
const (
	exitOK       = 0
	exitFalsy    = 1 // with --exit-status: the last result is false or null
	exitUsage    = 2 // the command line, or a file that cannot be read
	exitFilter   = 3 // the filter does not compile
	exitNoResult = 4 // with --exit-status: there was no result
	exitError    = 5 // the filter failed, or the input is not JSON
)

// A filter computes results for one value at a time.
type filter interface {
	// apply calls emit with each result for a value. A result is valid until emit returns.
	// An error of emit stops apply, which returns it.
	apply(value json.RawMessage, emit func(json.RawMessage) error) error
}

type program struct {
	options *options
	input   *source
	output  *printer
	stderr  io.Writer

	unread bool // a file could not be read
	truth  int  // the exit code for the last result
}

// Run runs the program with a command line, without the program's name. It returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "jq: %v\nUse jq --help for help with command-line options.\n", err)
		return exitUsage
	case o.help:
		io.WriteString(stdout, help)
		return exitOK
	case o.version:
		fmt.Fprintln(stdout, version)
		return exitOK
	}
	p := &program{options: o, output: newPrinter(stdout, o), stderr: stderr, truth: exitNoResult}
	p.input = &source{
		options:    o,
		files:      o.files,
		stdin:      stdin,
		beforeRead: func() { p.output.flush() },
		failed: func(err error) {
			p.unread = true
			p.complain("cannot read the input: %v", err)
		},
	}
	if len(o.files) == 0 {
		p.input.files = []string{"-"}
	}
	defer p.input.close()
	return p.run()
}

func (p *program) run() int {
	if err := p.options.loadVariables(); err != nil {
		p.complain("%v", err)
		return exitUsage
	}
	text := p.options.filter
	if p.options.fromFile {
		content, err := os.ReadFile(text)
		if err != nil {
			p.complain("cannot read the filter: %v", err)
			return exitUsage
		}
		text = string(content)
	}
	f, err := p.parse(text)
	if err != nil {
		p.complain("%v", err)
		return exitFilter
	}
	code := p.process(f)
	if err := p.output.flush(); err != nil {
		p.complain("%v", err)
		return exitUsage
	}
	return code
}

// parse parses a filter. A simple one needs no engine.
func (p *program) parse(text string) (filter, error) {
	if simple, ok := ParseSimple(strings.TrimSpace(text)); ok {
		return simple, nil
	}
	return compile(text, p.options, p.input, p.stderr)
}

// process applies the filter to the input and returns the exit code. As in jq, the program
// continues after an error, and the last value decides the exit code.
func (p *program) process(f filter) int {
	code, halted := exitOK, false
	if p.options.noInput {
		code, halted = p.apply(f, json.RawMessage("null"))
	} else {
		for !halted {
			value, err := p.input.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				p.complain("%v", err)
				return exitError
			}
			code, halted = p.apply(f, value)
		}
	}
	switch {
	case halted:
		return code
	case p.unread:
		return exitUsage
	case code == exitOK && p.options.exitStatus:
		return p.truth
	}
	return code
}

// apply applies the filter to one value. halted means that the program must end.
func (p *program) apply(f filter, value json.RawMessage) (code int, halted bool) {
	err := f.apply(value, p.emit)
	var halt *gojq.HaltError
	var write *writeError
	switch {
	case err == nil:
		return exitOK, false
	case errors.As(err, &write):
		return exitUsage, true // reported when the program ends
	case errors.As(err, &halt):
		p.printLast(halt.Value())
		return halt.ExitCode(), true
	}
	p.complainOf(err)
	return exitError, false
}

func (p *program) emit(result json.RawMessage) error {
	p.truth = exitFalsy
	if isTruthy(result) {
		p.truth = exitOK
	}
	return p.output.print(result)
}

// printLast writes the argument of halt_error: a string as it is, nothing for null.
func (p *program) printLast(value any) {
	if value == nil {
		return
	}
	p.output.flush()
	text := jqtext.AppendText(nil, appendGoValue(nil, value))
	if _, ok := value.(string); !ok {
		text = append(text, '\n')
	}
	p.stderr.Write(text)
}

// complainOf prints the error of the filter, with jq's messages if possible.
func (p *program) complainOf(err error) {
	text := ": " + err.Error()
	if raised, ok := errors.AsType[gojq.ValueError](err); ok {
		switch value := raised.Value().(type) {
		case string:
			text = ": " + value
		default:
			text = " (not a string): " + string(appendGoValue(nil, value))
		}
	}
	p.output.flush()
	fmt.Fprintf(p.stderr, "jq: error (at %s)%s\n", p.input.place(), text)
}

func (p *program) complain(format string, args ...any) {
	p.output.flush()
	fmt.Fprintf(p.stderr, "jq: error: "+format+"\n", args...)
}

// A printer writes results according to the flags. It buffers its output until the program
// reads more input, writes to standard error, or ends.
type printer struct {
	w       *bufio.Writer
	options *options
	layout  jqtext.Layout
	text    []byte // of the result being written
}

func newPrinter(w io.Writer, o *options) *printer {
	layout := jqtext.Layout{Indent: o.indent, Sorted: o.sorted, ASCII: o.ascii}
	return &printer{w: bufio.NewWriterSize(w, 16<<10), options: o, layout: layout}
}

// errNULInString is the error for a string that --raw-output0 cannot delimit.
//
//lint:ignore ST1005 the words are those of jq
var errNULInString = errors.New("Cannot dump a string containing NUL with --raw-output0 option")

// print writes one result. The error is a [*writeError] or errNULInString.
func (p *printer) print(v json.RawMessage) error {
	o := p.options
	p.text = p.text[:0]
	if o.raw && !o.ascii && rawjson.KindOf(v) == rawjson.String {
		p.text = jqtext.AppendText(p.text, v)
		if o.nul && bytes.IndexByte(p.text, 0) >= 0 {
			return errNULInString
		}
	} else {
		p.text = p.layout.Append(p.text, v)
	}
	switch {
	case o.nul:
		p.text = append(p.text, 0)
	case !o.join:
		p.text = append(p.text, '\n')
	}
	if _, err := p.w.Write(p.text); err != nil {
		return &writeError{err}
	}
	if o.direct {
		return p.flush()
	}
	return nil
}

func (p *printer) flush() error {
	if err := p.w.Flush(); err != nil {
		return &writeError{err}
	}
	return nil
}

// A writeError is the error of the output. Nothing is written after it.
type writeError struct{ err error }

func (e *writeError) Error() string { return "writing output failed: " + e.err.Error() }
