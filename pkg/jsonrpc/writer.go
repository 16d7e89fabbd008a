package jsonrpc

import (
	"context"
	"io"
	"sync"
)

// An Output is where lines go.
type Output interface {
	io.Writer
	// Ready reports whether a Write of at most 4096 bytes would return
	// without waiting for the reader at the other end.
	Ready() bool
}

// portion is how many bytes an [Output] that is ready takes without waiting:
// what POSIX promises for a pipe.
const portion = 4096

const (
	ownChunk = 32 << 10  // a line this long is queued as it is, not copied
	pushMost = 256 << 10 // bytes that one Push writes itself
)

// A Writer sends lines. Each is written whole, in the order in which it was
// handed in; lines that wait while another write is under way go out together.
// All methods may be called from any goroutine.
//
// Whoever finds the Writer idle does the writing. Push never waits for the
// client to read, Deliver may: only a goroutine that nothing depends on calls it.
// Not the one that reads the client's messages, as both could wait for each other
// for ever, and none that looks after a script, which must be ended in time
// whatever the client does.
type Writer struct {
	out    Output
	bound  int
	failed func(err error, lost int)

	mu       sync.Mutex
	quiet    sync.Cond     // a write has ended
	room     chan struct{} // closed when there is room again; nil: nobody waits for it
	busy     bool          // somebody is writing
	tail     []byte        // small lines, not written yet
	chunks   [][]byte      // what goes before tail
	queued   int64         // bytes ever handed in
	written  int64         // of these, how many are written or lost
	reserved int           // bytes of lines that will be handed in
	spare    []byte        // a buffer to use again as tail
	dead     bool
}

// NewWriter returns a writer to out. bound is how many bytes may wait for a slow
// reader before [Writer.Full]. failed is called, never concurrently, with every
// error of out and the number of bytes that were lost; it must not call the Writer.
func NewWriter(out Output, bound int, failed func(err error, lost int)) *Writer {
	w := &Writer{out: out, bound: bound, failed: failed}
	w.quiet.L = &w.mu
	return w
}

// Queue takes a line, which ends in its line feed, without writing it; the
// caller promises a Push or Deliver. A line of [ownChunk] bytes or more must
// not be touched afterwards.
func (w *Writer) Queue(line []byte) {
	w.mu.Lock()
	w.add(line)
	w.mu.Unlock()
}

// Push writes what is queued as far as the reader takes it at once, and leaves
// the rest to another goroutine.
func (w *Writer) Push() {
	w.mu.Lock()
	w.flush(false)
	w.mu.Unlock()
}

// Deliver writes what is queued, or leaves it to the goroutine that is at it. It
// may wait for the reader.
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

// Full reports whether more bytes wait for the reader than should.
func (w *Writer) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.full()
}

// Reserve waits until the Writer is not full, and then counts size bytes as
// waiting until they are given back with [Writer.Release]. It ends early with ctx.
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

// Release ends a [Writer.Reserve]: the line is queued, or will not be.
func (w *Writer) Release(size int) {
	w.mu.Lock()
	w.reserved -= size
	w.tellRoom()
	w.mu.Unlock()
}

// Flush waits until everything queued so far is written or lost, or the Writer
// closed.
func (w *Writer) Flush() {
	w.mu.Lock()
	w.flush(true)
	for w.busy && !w.dead {
		w.quiet.Wait()
	}
	w.mu.Unlock()
}

// Close drops what is not written and everything handed in later. A write
// under way is not waited for.
func (w *Writer) Close() {
	w.mu.Lock()
	w.dead = true
	w.chunks, w.tail = nil, nil
	w.tellRoom()
	w.quiet.Broadcast()
	w.mu.Unlock()
}

func (w *Writer) full() bool {
	return !w.dead && w.queued-w.written+int64(w.reserved) > int64(w.bound)
}

func (w *Writer) tellRoom() {
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

// flush writes what is queued, unless somebody else is at it; what is queued
// meanwhile, and without mayWait what the reader does not take at once, is left to
// another goroutine. The lock is held on entry and on return, and given up during
// each write.
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

// carryOn goes on where a goroutine that has other work left off: rest is what
// it has not written of its last chunk.
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
	w.tellRoom()
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

// writeReady writes what the reader takes at once, [pushMost] bytes at most, and
// returns the rest.
func (w *Writer) writeReady(b []byte) []byte {
	for most := pushMost; len(b) > 0 && most > 0 && w.out.Ready(); most -= portion {
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
