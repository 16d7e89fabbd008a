package source

import (
	"io"
	"sync"

	"mcp-bash/pkg/events/trail"
)

// The lines of a pipe that wait in memory.
const (
	maxQueued      = 10_000
	maxQueuedBytes = 16 << 20
)

// A Pipe reads lines as fast as a server writes them. Above a limit it drops the newest ones, unless it may wait.
type Pipe struct {
	other  io.Writer // gets the lines that do not belong to a record
	waits  bool
	report Report

	mu     sync.Mutex
	taken  sync.Cond // lines were taken from the queue
	queue  []*trail.Entry
	bytes  int64
	counts Counts
	closed bool // the queue takes no more lines
	behind bool // the last line was dropped

	// Ended is closed at the end of the pipe.
	Ended chan struct{}
	err   error
}

// NewPipe returns a pipe that reads from in until its end. It writes other lines, such as a server's log, to other.
// If waits is set, nothing is dropped, and the writer may have to wait.
func NewPipe(in io.Reader, other io.Writer, waits bool, report Report) *Pipe {
	p := &Pipe{other: other, waits: waits, report: report, Ended: make(chan struct{})}
	p.taken.L = &p.mu
	go func() {
		p.err = trail.Read(in, p.add)
		close(p.Ended)
	}()
	return p
}

func (p *Pipe) add(e *trail.Entry) error {
	if e.Broken != nil {
		p.pass(e)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	full := func() bool { return len(p.queue) >= maxQueued || p.bytes+e.Size > maxQueuedBytes }
	for p.waits && full() && !p.closed {
		p.taken.Wait()
	}
	if p.closed || full() {
		p.counts.Dropped++
		if !p.behind && !p.closed {
			p.behind = true
			p.report("%d lines wait for the collector; newer ones are dropped until there is room", len(p.queue))
		}
		return nil
	}
	p.behind = false
	p.queue = append(p.queue, e)
	p.bytes += e.Size
	return nil
}

// pass writes a line that does not belong to a record, such as a line of the server's log.
func (p *Pipe) pass(e *trail.Entry) {
	p.mu.Lock()
	p.counts.Skipped++
	p.mu.Unlock()
	if e.Raw != nil {
		p.other.Write(append(e.Raw, '\n'))
	} else {
		p.report("a line of %d bytes is not one of an audit record, and is skipped", e.Size)
	}
}

// Read returns lines that have arrived. It does not wait for new lines. If it has used the budget, more lines may be
// there.
func (p *Pipe) Read(b *Budget) (lines []*trail.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && !b.Empty() {
		e := p.queue[0]
		p.queue = p.queue[1:]
		p.bytes -= e.Size
		b.spend(e)
		lines = append(lines, e)
	}
	p.taken.Signal()
	return lines
}

// Done reports whether Read has returned all lines. The error is the one that ended the pipe.
func (p *Pipe) Done() (bool, error) {
	select {
	case <-p.Ended:
	default:
		return false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) == 0, p.err
}

// Counts returns the lines that were not returned.
func (p *Pipe) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Dropped += int64(len(p.queue))
	return c
}

// Close ends the queue: later lines are dropped.
func (p *Pipe) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.taken.Broadcast()
}
