//go:build unix

package script

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

// mostSpare is the number of wait sets that a runner keeps for its next scripts.
const mostSpare = 16

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

func (r *Runner) returnWaitSet(w *waitSet) {
	for s := range sources {
		w.forget(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waits) == mostSpare {
		w.close()
		return
	}
	r.waits = append(r.waits, w)
}
