package jsonrpc

import (
	"bytes"
	"errors"
	"io"
)

// A Reader splits a stream into lines (P-400, P-404).
type Reader struct {
	src  io.Reader
	max  int
	buf  []byte
	from int // start of the bytes that were not returned yet
	upTo int // end of the bytes that were read
	seen int // end of the searched part of the unfinished line
	skip bool
	err  error
}

// ErrTooLong is the error for a line above the limit. The line is skipped, and the next call
// continues after it.
var ErrTooLong = errors.New("line too long")

const (
	readChunk = 64 << 10
	keepUpTo  = 1 << 20 // a larger buffer is released when it is empty
)

// NewReader returns a Reader for lines of at most max bytes, without the line end.
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{src: src, max: max, buf: make([]byte, 4<<10)}
}

// Next returns the next line that is not empty, without line end, surrounding white space or
// a leading byte order mark. The line is valid until the next call. At the end of the
// stream, Next returns a last line without line end before the stream's error, which is
// usually io.EOF.
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

// Waiting reports whether a complete line has already been read. Next then returns without
// waiting for the stream.
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

// last returns the bytes after the last line end.
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

// makeRoom moves the remaining bytes to the front of the buffer, and grows or shrinks the
// buffer. It discards the bytes of a line that is too long.
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
