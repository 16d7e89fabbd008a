package jq

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

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
