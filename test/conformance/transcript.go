package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// A transcript records all messages, and keeps what was wrong with those of the server. Its methods may be called
// from any goroutine.
type transcript struct {
	mu     sync.Mutex
	out    io.Writer
	wrongs []string
}

// note writes down a message: '>' to the server, '<' from it, '!' a fault, or a line of its standard error.
func (d *transcript) note(session string, way byte, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.out, "%.6s %c %s", session, way, line)
}

// fault keeps what the server did wrong.
func (d *transcript) fault(session string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrongs = append(d.wrongs, fmt.Sprintf("%.6s: %v", session, err))
}

// faults are all of them.
func (d *transcript) faults() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.wrongs)
}
