package serve

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A stderrQueue writes standard error on another goroutine, so that no caller waits until it is
// read. It drops messages while too many are waiting, and reports their number (P-1308).
type stderrQueue struct {
	out io.Writer

	mu      sync.Mutex
	waiting []byte
	writing int // bytes of the write under way
	dropped int
	busy    chan struct{} // closed when everything is written; nil: nothing is being written
}

// maxStderrQueue is the number of bytes that can wait.
const maxStderrQueue = 1 << 20

func (q *stderrQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.writing+len(q.waiting)+len(p) > maxStderrQueue {
		q.dropped++
		return len(p), nil
	}
	q.waiting = append(q.waiting, p...)
	if q.busy == nil {
		q.busy = make(chan struct{})
		go q.drain()
	}
	return len(p), nil
}

func (q *stderrQueue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 || q.dropped > 0 {
		text := q.waiting
		q.waiting, q.writing = nil, len(text)
		if q.dropped > 0 {
			text = fmt.Appendf(text, "mcp-bash: standard error was not read; %d messages were dropped\n", q.dropped)
			q.dropped = 0
		}
		q.mu.Unlock()
		q.out.Write(text) // an error cannot be reported anywhere
		q.mu.Lock()
		q.writing = 0
	}
	close(q.busy)
	q.busy = nil
}

func (q *stderrQueue) flush(within time.Duration) {
	q.mu.Lock()
	busy := q.busy
	q.mu.Unlock()
	if busy == nil {
		return
	}
	select {
	case <-busy:
	case <-time.After(within):
	}
}
