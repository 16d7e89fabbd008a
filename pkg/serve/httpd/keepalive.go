package httpd

import (
	"sync"
	"time"

	"mcp-bash/pkg/clock"
)

// running lists the posts whose requests run. Adding one costs less than a timer, which few requests need.
type running struct {
	mu    sync.Mutex
	first *post
}

func (l *running) add(p *post) {
	p.began = clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.next = l.first; p.next != nil {
		p.next.previous = p
	}
	l.first = p
}

// remove removes a post. Then [running.keepAlive] does not use it any more.
func (l *running) remove(p *post) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.next != nil {
		p.next.previous = p.previous
	}
	if p.previous != nil {
		p.previous.next = p.next
	} else {
		l.first = p.next
	}
	p.next, p.previous = nil, nil
}

// keepAlive sends a comment to each client that has got nothing for a time (H-13), so that no proxy closes the
// connection. It never waits for a client.
func (l *running) keepAlive(within time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := l.first; p != nil; p = p.next {
		p.keepAlive(within)
	}
}

// keepAlive sends a comment on the stream of a slow request, which it opens if necessary.
func (p *post) keepAlive(within time.Duration) {
	p.mu.Lock()
	before := p.stream
	due := p.expected > 0 && (before != nil && before.silent(within) || before == nil && clock.Now()-p.began >= within)
	due = due && p.open()
	st := p.stream
	p.mu.Unlock()
	if due {
		st.comment("")
	}
}

// silent reports whether nothing was sent on the stream for a time.
func (st *stream) silent(within time.Duration) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return time.Since(st.active) >= within
}
