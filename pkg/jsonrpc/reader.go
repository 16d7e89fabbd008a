package jsonrpc

import (
	"bytes"
	"errors"
	"io"
)

// A Reader cuts a stream into lines (P-400, P-404).
type Reader struct {
	src  io.Reader
	max  int
	buf  []byte
	from int // start of what has not been handed out
	upTo int // end of what has been read
	seen int // how far the unfinished line has been searched for its end
	skip bool
	err  error
}

// ErrTooLong is the error for a line above the limit. The line is gone; the
// next call goes on behind it.
var ErrTooLong = errors.New("line too long")

const (
	readChunk = 64 << 10
	keepUpTo  = 1 << 20 // a buffer larger than this is let go once it is empty
)

// NewReader reads lines of at most max bytes, line end not counted.
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{src: src, max: max, buf: make([]byte, 4<<10)}
}

// Next returns the next line that is not empty, without line end, the white
// space around it, or a byte order mark before it. The line is valid until the
// next call. At the end of the stream a last line without line end is returned
// before the error of the stream, which is io.EOF at a proper end.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if line = trim(line); len(line) > 0 {
			return line, nil
		}
	}
}

// Waiting reports whether a complete line has been read already, so that Next
// returns without waiting for the stream.
func (r *Reader) Waiting() bool {
	return bytes.IndexByte(r.buf[r.from:r.upTo], '\n') >= 0
}

func (r *Reader) line() ([]byte, error) {
	for {
		if at := bytes.IndexByte(r.buf[r.seen:r.upTo], '\n'); at >= 0 {
			line := r.buf[r.from : r.seen+at]
			r.from = r.seen + at + 1
			r.seen = r.from
			if r.skip {
				r.skip = false
				return nil, ErrTooLong
			}
			if len(line) > r.max {
				return nil, ErrTooLong
			}
			return line, nil
		}
		r.seen = r.upTo
		if r.err != nil {
			return r.last()
		}
		r.makeRoom()
		n, err := r.src.Read(r.buf[r.upTo:])
		r.upTo += n
		r.err = err
	}
}

// last returns what stands after the last line end.
func (r *Reader) last() ([]byte, error) {
	line := r.buf[r.from:r.upTo]
	r.from, r.seen = r.upTo, r.upTo
	switch {
	case r.skip || len(line) > r.max:
		r.skip = false
		return nil, ErrTooLong
	case len(line) > 0:
		return line, nil
	}
	return nil, r.err
}

// makeRoom moves what is left of the buffer to its front, throws away what
// belongs to a line that is too long already, and grows or shrinks the buffer.
func (r *Reader) makeRoom() {
	if r.upTo-r.from > r.max {
		r.skip = true
	}
	if r.skip {
		r.from, r.upTo = 0, 0
	}
	size := r.upTo - r.from
	switch {
	case size == 0 && len(r.buf) > keepUpTo:
		r.buf = make([]byte, readChunk)
	case r.from > 0 && size > 0:
		copy(r.buf, r.buf[r.from:r.upTo])
	}
	r.from, r.upTo, r.seen = 0, size, size
	if size == len(r.buf) {
		grown := make([]byte, max(readChunk, min(2*len(r.buf), r.max+readChunk)))
		copy(grown, r.buf[:size])
		r.buf = grown
	}
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

func trim(line []byte) []byte {
	line = trimSpace(line)
	if bytes.HasPrefix(line, byteOrderMark) {
		line = trimSpace(line[len(byteOrderMark):])
	}
	return line
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
