//go:build unix

package script

import (
	"sync"

	"golang.org/x/sys/unix"
)

// A source is what the wait for a script can report.
type source int

const (
	stdoutSource source = iota
	stderrSource
	exitSource
	wakeSource
	sources
)

// A readySet has the sources that are readable.
type readySet [sources]bool

var noDescriptors = [sources]int{-1, -1, -1, -1}

func (r *Runner) takeWaitSet() (*waitSet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.waits); n > 0 {
		w := r.waits[n-1]
		r.waits = r.waits[:n-1]
		return w, nil
	}
	return newWaitSet()
}

// returnWaitSet keeps a wait set for the next script. A runner keeps one for each running script, and at least one.
func (r *Runner) returnWaitSet(w *waitSet) {
	for s := range sources {
		w.forget(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = append(r.waits, w)
	for n := len(r.waits); n > max(1, len(r.groups)); n-- {
		r.waits[n-1].close()
		r.waits = r.waits[:n-1]
	}
}

// A Waker ends the wait for the next call of Watch, see [Spec].Pace. Wake is safe for concurrent
// use, also with Close.
type Waker struct {
	mu     sync.Mutex
	r, w   int  // readable after Wake
	set    bool // Wake was called since the last drain
	closed bool
}

// NewWaker returns a Waker. It uses a descriptor until Close.
func NewWaker() (*Waker, error) {
	r, w, err := newSignal()
	if err != nil {
		return nil, err
	}
	return &Waker{r: r, w: w}, nil
}

// Wake ends the wait.
func (k *Waker) Wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed && !k.set {
		k.set = true
		unix.Write(k.w, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// drain makes the next wait possible.
func (k *Waker) drain() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set = false
	unix.Read(k.r, make([]byte, 8))
}

// Close releases the descriptor, after the end of the script.
func (k *Waker) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	unix.Close(k.r)
	if k.w != k.r {
		unix.Close(k.w)
	}
}
