//go:build unix

package script

import (
	"io"
	"os"
	"slices"
	"sync"
)

// A drain reads what the children that scripts left behind still print, so that
// none of them is ended by a closed pipe (T-48). It keeps a bounded number
// of pipes open: of more, the oldest is closed.
type drain struct {
	mu    sync.Mutex
	pipes []*os.File // the oldest first
}

const maxDrained = 64

// take reads a pipe to its end. fd may be -1, for none.
func (d *drain) take(fd int) {
	if fd < 0 {
		return
	}
	f := os.NewFile(uintptr(fd), "output") // does not wait already, so it joins Go's poller
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
