//go:build unix

package script

import (
	"io"
	"os"
	"slices"
	"sync"
)

// A drain reads the output of child processes that outlive their script, so that no closed pipe
// ends them (T-48). It keeps a limited number of pipes open and closes the oldest first.
type drain struct {
	mu    sync.Mutex
	pipes []*os.File // the oldest first
}

const maxDrained = 64

// take reads a pipe to its end. fd may be -1.
func (d *drain) take(fd int) {
	if fd < 0 {
		return
	}
	f := os.NewFile(uintptr(fd), "output") // already non-blocking, so it joins Go's poller
	d.mu.Lock()
	d.pipes = append(d.pipes, f)
	if len(d.pipes) > maxDrained {
		d.pipes[0].Close()
		d.pipes = slices.Delete(d.pipes, 0, 1)
	}
	d.mu.Unlock()
	go func() {
		io.Copy(io.Discard, f)
		f.Close()
		d.mu.Lock()
		d.pipes = slices.DeleteFunc(d.pipes, func(other *os.File) bool { return other == f })
		d.mu.Unlock()
	}()
}
