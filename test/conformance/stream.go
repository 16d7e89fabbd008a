package main

import (
	"context"
	"sync"
)

// A stream holds the messages that are to leave with one HTTP answer, in order,
// until a client takes them. Use newStream.
type stream struct {
	mu     sync.Mutex
	lines  [][]byte
	closed bool
	change chan struct{} // closed and replaced whenever lines or closed change
}

func newStream() *stream { return &stream{change: make(chan struct{})} }

// put adds a message; false when the stream was closed before.
func (s *stream) put(line []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.lines = append(s.lines, line)
	s.wake()
	return true
}

// close ends the stream once all it holds has been taken.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake()
}

func (s *stream) wake() {
	close(s.change)
	s.change = make(chan struct{})
}

// drain gives take one message after another until the stream ends, the context
// does, or take fails. A message stays until take has succeeded with it.
func (s *stream) drain(ctx context.Context, take func(line []byte) error) error {
	for {
		s.mu.Lock()
		var line []byte
		if len(s.lines) > 0 {
			line = s.lines[0]
		}
		closed, change := s.closed, s.change
		s.mu.Unlock()
		switch {
		case line != nil:
			if err := take(line); err != nil {
				return err
			}
			s.mu.Lock()
			s.lines = s.lines[1:]
			s.mu.Unlock()
		case closed:
			return nil
		default:
			select {
			case <-change:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}
