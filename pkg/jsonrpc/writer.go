package jsonrpc

import (
	"io"
	"sync"
)

// An Output is where lines go.
type Output interface {
	io.Writer
	// Ready reports whether a Write of at most [Portion] bytes would return
	// without waiting for the reader at the other end.
	Ready() bool
}

// Portion is how many bytes an [Output] that is ready takes without waiting:
// what POSIX promises for a pipe.
const Portion = 4096

const (
	ownChunk   = 32 << 10 // a line this long is queued as it is, not copied
	backlogMax = 64 << 20 // bytes waiting for a slow reader before we stop reading ourselves
)

// A Writer sends lines. Each is written whole, in the order in which it was
// handed in; lines that wait while another write is under way go out together.
// All methods may be called from any goroutine.
//
// Whoever finds the Writer idle does the writing. Only the goroutine that
// reads the client's messages must never wait for the client, or both could
// wait for each other for ever; it uses Queue and FlushReady.
type Writer struct {
	out    Output
	failed func(err error, lost int)

	mu      sync.Mutex
	quiet   sync.Cond // a write has ended
	busy    bool      // somebody is writing
	tail    []byte    // small lines, not written yet
	chunks  [][]byte  // what goes before tail
	backlog int       // bytes in chunks and tail, and in the write under way
	spare   []byte    // a buffer to use again as tail
	dead    bool
}

// NewWriter returns a writer to out. failed is called, never concurrently,
// with every error of out and the number of bytes that were lost; it must not
// call the Writer.
func NewWriter(out Output, failed func(err error, lost int)) *Writer {
	w := &Writer{out: out, failed: failed}
	w.quiet.L = &w.mu
	return w
}

// Queue takes a line, which ends in its line feed, without writing it; the
// caller promises a Push or FlushReady. A line of [ownChunk] bytes or more must
// not be touched afterwards.
func (w *Writer) Queue(line []byte) {
	w.mu.Lock()
	w.add(line)
	w.mu.Unlock()
}

// Push sees that what is queued gets written: by the goroutine that is at it,
// or now. It may wait for the reader.
func (w *Writer) Push() {
	w.mu.Lock()
	w.flush(true)
	w.mu.Unlock()
}

// Send is Queue and Push.
func (w *Writer) Send(line []byte) {
	w.mu.Lock()
	w.add(line)
	w.flush(true)
	w.mu.Unlock()
}

// FlushReady writes what is queued as far as the reader takes it at once, and
// leaves the rest to another goroutine. It waits only when the reader is so
// far behind that taking more messages from it would use up memory.
func (w *Writer) FlushReady() {
	w.mu.Lock()
	w.flush(false)
	for w.backlog > backlogMax && !w.dead {
		w.quiet.Wait()
	}
	w.mu.Unlock()
}

// Flush waits until everything queued so far is written or lost.
func (w *Writer) Flush() {
	w.mu.Lock()
	w.flush(true)
	for w.busy {
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
	w.quiet.Broadcast()
	w.mu.Unlock()
}

func (w *Writer) add(line []byte) {
	if w.dead {
		return
	}
	w.backlog += len(line)
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

// flush writes until nothing is queued, unless somebody else is at it. The
// lock is held on entry and on return, and given up during each write.
func (w *Writer) flush(mayWait bool) {
	if w.busy {
		return
	}
	w.busy = true
	for !w.dead {
		chunk := w.take()
		if chunk == nil {
			break
		}
		w.mu.Unlock()
		rest := chunk
		if !mayWait {
			rest = w.writeReady(chunk)
		}
		if len(rest) > 0 && !mayWait {
			go w.finish(rest, len(chunk))
			w.mu.Lock()
			return
		}
		w.write(rest)
		w.mu.Lock()
		w.wrote(chunk)
	}
	w.busy = false
	w.quiet.Broadcast()
}

// finish goes on where a goroutine that must not wait left off.
func (w *Writer) finish(rest []byte, size int) {
	w.write(rest)
	w.mu.Lock()
	w.backlog -= size
	w.busy = false
	w.quiet.Broadcast()
	w.flush(true)
	w.mu.Unlock()
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
	if len(w.tail) > 0 {
		chunk := w.tail
		w.tail, w.spare = w.spare[:0], nil
		return chunk
	}
	return nil
}

func (w *Writer) wrote(chunk []byte) {
	w.backlog -= len(chunk)
	if cap(chunk) <= 2*ownChunk && w.spare == nil {
		w.spare = chunk[:0]
	}
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

// writeReady writes what the reader takes at once and returns the rest.
func (w *Writer) writeReady(b []byte) []byte {
	for len(b) > 0 && w.out.Ready() {
		portion := b[:min(len(b), Portion)]
		n, err := w.out.Write(portion)
		if err != nil {
			w.failed(err, len(b)-n)
			return nil
		}
		b = b[len(portion):]
	}
	return b
}
