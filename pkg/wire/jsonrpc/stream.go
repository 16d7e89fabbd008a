package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// A Reader splits a stream into lines.
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

// Waiting reports whether the buffer contains a complete line. Next then returns without waiting for the stream.
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
	const space = " \t\r"
	return bytes.TrimLeft(bytes.TrimPrefix(bytes.Trim(line, space), byteOrderMark), space)
}

// An Output receives the lines of a [Writer].
type Output interface {
	io.Writer
	// Ready reports whether a Write of at most 4096 bytes would return without waiting for
	// the reader on the other side.
	Ready() bool
}

// portion is the number of bytes that an [Output] accepts without waiting if it is ready.
// POSIX guarantees it for pipes.
const portion = 4096

const (
	ownChunk = 32 << 10  // a line of this length is queued without a copy
	pushMost = 256 << 10 // bytes that one Push writes at most
)

// A Writer sends lines. It writes each line whole, in the order of the calls. Lines that
// queue up during a write are sent together. All methods are safe for concurrent use.
//
// The goroutine that finds the Writer idle does the writing. Push never waits for the client
// to read, but Deliver can, so it needs a goroutine that nothing depends on. The goroutine
// that reads the client's messages must not call Deliver, because both sides could wait for
// each other forever. A goroutine that supervises a script must not call it either, because
// the script must end in time.
type Writer struct {
	out    Output
	bound  int
	failed func(err error, lost int)

	mu       sync.Mutex
	quiet    sync.Cond     // a write has ended
	room     chan struct{} // closed when there is room again; nil: no goroutine is waiting
	busy     bool          // a goroutine is writing
	tail     []byte        // small lines that are not written yet
	chunks   [][]byte      // the bytes before tail
	queued   int64         // the number of bytes that were ever queued
	written  int64         // how many of these were written or lost
	reserved int           // bytes of lines that will be queued
	spare    []byte        // a buffer that can be reused for tail
	dead     bool
}

// NewWriter returns a Writer to out. bound is the number of bytes that can wait for a slow
// reader before [Writer.Full] returns true. failed is called with every error of out and the
// number of lost bytes, one call at a time. It must not call the Writer.
func NewWriter(out Output, bound int, failed func(err error, lost int)) *Writer {
	w := &Writer{out: out, bound: bound, failed: failed}
	w.quiet.L = &w.mu
	return w
}

// Queue adds a line, which must end with a line feed, without writing it. The caller must
// call Push or Deliver afterwards. It must not change a line of [ownChunk] bytes or more
// after the call.
func (w *Writer) Queue(line []byte) {
	w.mu.Lock()
	w.add(line)
	w.mu.Unlock()
}

// Push writes the queued lines as far as the reader accepts them at once. Another goroutine
// writes the rest.
func (w *Writer) Push() {
	w.mu.Lock()
	w.flush(false)
	w.mu.Unlock()
}

// Deliver writes the queued lines, or leaves them to a goroutine that is already writing. It
// can wait for the reader.
func (w *Writer) Deliver() {
	w.mu.Lock()
	w.flush(true)
	w.mu.Unlock()
}

// Send is Queue and Push.
func (w *Writer) Send(line []byte) {
	w.mu.Lock()
	w.add(line)
	w.flush(false)
	w.mu.Unlock()
}

// Full reports whether too many bytes are waiting for the reader.
func (w *Writer) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.full()
}

// Reserve waits until the Writer is not full. It then counts size bytes as waiting until
// [Writer.Release]. It returns early when ctx ends.
func (w *Writer) Reserve(ctx context.Context, size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.full() && ctx.Err() == nil {
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		w.mu.Lock()
	}
	w.reserved += size
}

// Release ends a [Writer.Reserve] when the line is queued or will not be sent.
func (w *Writer) Release(size int) {
	w.mu.Lock()
	w.reserved -= size
	w.signalRoom()
	w.mu.Unlock()
}

// Flush waits until all queued lines are written or lost, or until the Writer is closed.
func (w *Writer) Flush() {
	w.mu.Lock()
	w.flush(true)
	for w.busy && !w.dead {
		w.quiet.Wait()
	}
	w.mu.Unlock()
}

// Close drops all lines that are not written yet or queued later. It does not wait for a
// write in progress.
func (w *Writer) Close() {
	w.mu.Lock()
	w.dead = true
	w.chunks, w.tail = nil, nil
	w.signalRoom()
	w.quiet.Broadcast()
	w.mu.Unlock()
}

func (w *Writer) full() bool {
	return !w.dead && w.queued-w.written+int64(w.reserved) > int64(w.bound)
}

func (w *Writer) signalRoom() {
	if w.room != nil && !w.full() {
		close(w.room)
		w.room = nil
	}
}

func (w *Writer) add(line []byte) {
	if w.dead {
		return
	}
	w.queued += int64(len(line))
	if len(w.tail) > 0 && len(w.tail)+len(line) > 2*ownChunk {
		w.chunks = append(w.chunks, w.tail)
		w.tail, w.spare = w.spare[:0], nil
	}
	if len(line) < ownChunk {
		w.tail = append(w.tail, line...)
		return
	}
	if len(w.tail) > 0 {
		w.chunks = append(w.chunks, w.tail)
		w.tail = nil
	}
	w.chunks = append(w.chunks, line)
}

// flush writes the queued lines, unless another goroutine is writing. Without mayWait,
// another goroutine writes the lines that the reader does not accept at once, and later
// lines. flush is called with the lock held, and unlocks it during each write.
func (w *Writer) flush(mayWait bool) {
	if w.busy {
		return
	}
	w.busy = true
	last := w.queued
	if !mayWait {
		last = min(last, w.written+pushMost)
	}
	for !w.dead && w.written < last {
		chunk := w.take()
		w.mu.Unlock()
		rest := chunk
		if !mayWait {
			rest = w.writeReady(chunk)
		}
		if len(rest) > 0 && !mayWait {
			go w.carryOn(rest, chunk)
			w.mu.Lock()
			return
		}
		w.write(rest)
		w.mu.Lock()
		w.wrote(chunk)
	}
	if !w.dead && w.written < w.queued {
		go w.carryOn(nil, nil)
		return
	}
	w.busy = false
	w.quiet.Broadcast()
}

// carryOn writes for a goroutine that has other work. rest is the unwritten part of its last chunk.
func (w *Writer) carryOn(rest, chunk []byte) {
	w.write(rest)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote(chunk)
	for !w.dead && w.written < w.queued {
		chunk := w.take()
		w.mu.Unlock()
		w.write(chunk)
		w.mu.Lock()
		w.wrote(chunk)
	}
	w.busy = false
	w.quiet.Broadcast()
}

func (w *Writer) take() []byte {
	if len(w.chunks) > 0 {
		chunk := w.chunks[0]
		w.chunks[0] = nil
		if w.chunks = w.chunks[1:]; len(w.chunks) == 0 {
			w.chunks = nil
		}
		return chunk
	}
	chunk := w.tail
	w.tail, w.spare = w.spare[:0], nil
	return chunk
}

func (w *Writer) wrote(chunk []byte) {
	w.written += int64(len(chunk))
	if chunk != nil && cap(chunk) <= 2*ownChunk && w.spare == nil {
		w.spare = chunk[:0]
	}
	w.signalRoom()
	w.quiet.Broadcast()
}

func (w *Writer) write(b []byte) {
	if len(b) == 0 {
		return
	}
	if n, err := w.out.Write(b); err != nil {
		w.failed(err, len(b)-n)
	}
}

// writeReady writes the bytes that the reader accepts at once, at most [pushMost], and
// returns the rest.
func (w *Writer) writeReady(b []byte) []byte {
	for left := pushMost; len(b) > 0 && left > 0 && w.out.Ready(); left -= portion {
		portion := b[:min(len(b), portion)]
		n, err := w.out.Write(portion)
		if err != nil {
			w.failed(err, len(b)-n)
			return nil
		}
		b = b[len(portion):]
	}
	return b
}
