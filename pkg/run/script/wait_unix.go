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
