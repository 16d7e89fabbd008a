package handoff

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Pool hands out hand-off directories below a private directory.
//
// Creating and removing a directory takes as long as starting a script. Therefore the pool
// renames a directory that is clean after a call, and uses it again. A script that has
// recorded its paths finds nothing there.
//
// The pool keeps as many directories as were recently in use at the same time, and at least
// one. It limits their number so that their descriptors do not prevent scripts from starting
// (T-53).
type Pool struct {
	path    string
	private func() (*os.Root, error)
	keep    int // the maximum number of idle directories

	mu       sync.Mutex
	idle     []*Dir
	last     int    // the number in the last name
	out      int    // the number of directories in use
	peak     int    // the maximum of out since the last sweep
	sweeping bool   // a sweep is due
	waste    []*Dir // directories that must be removed
	removing bool   // a goroutine removes them
}

// NewPool returns a pool below the private directory path, with at most keep idle
// directories. private opens the private directory. Each Take calls it, and it can return a
// new directory after the old one was lost.
func NewPool(path string, keep int, private func() (*os.Root, error)) *Pool {
	return &Pool{path: path, private: private, keep: keep}
}

// perDir is the number of descriptors of a directory: two folders, opened twice, and four
// files.
const perDir = 8

// idleWithin returns how many idle directories use a quarter of the descriptors.
func idleWithin(descriptors uint64) int { return int(max(1, min(descriptors/4/perDir, 1000))) }

const mostWaiting = 1000

// waitingWithin returns how many waiting scripts use a quarter of the descriptors.
func waitingWithin(descriptors uint64) int {
	const perScript = perDir + 6 // exit status, output, waker, lifeline and confinement
	return int(max(1, min(descriptors/4/perScript, mostWaiting)))
}

// idleTrust is how long an idle directory is assumed to be unchanged. Cleaners of temporary
// files remove single files that are days old.
const idleTrust = time.Minute

const sweepEvery = 800 * time.Millisecond

// Take returns a directory in its initial state.
func (p *Pool) Take() (*Dir, error) {
	parent, err := p.private()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	name := p.name("call.")
	p.out++
	p.peak = max(p.peak, p.out)
	var d *Dir
	if n := len(p.idle); n > 0 {
		d, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if d != nil {
		if d.parent == parent && parent.Rename(d.name, name) == nil {
			d.moved(name)
			if time.Since(d.idle) < idleTrust || d.reset() {
				return d, nil
			}
		}
		p.mu.Lock()
		p.discard(d)
		name = p.name("call.")
		p.mu.Unlock()
	}
	d, err = newDir(parent, p.path, name)
	if err != nil {
		p.mu.Lock()
		p.out--
		p.mu.Unlock()
		return nil, fmt.Errorf("no hand-off directory in %s: %w", p.path, err)
	}
	return d, nil
}

// name returns a new name. The caller must hold the lock.
func (p *Pool) name(prefix string) string {
	p.last++
	return prefix + strconv.Itoa(p.last)
}

// Give returns a directory to the pool. alone reports that no known process of the call is
// left. Give itself checks whether a process has a file open.
func (p *Pool) Give(d *Dir, alone bool) {
	p.mu.Lock()
	name := p.name("idle.")
	p.mu.Unlock()
	// Rename it first, so that no process can open a file during the check.
	clean := alone && d.parent.Rename(d.name, name) == nil
	if clean {
		d.moved(name)
		clean = d.reset()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out--
	if clean && len(p.idle) < p.keep {
		d.idle = time.Now()
		p.idle = append(p.idle, d)
	} else {
		p.discard(d)
	}
	p.planSweep()
}

// Keep leaves a directory in place for inspection.
func (p *Pool) Keep(d *Dir) {
	d.close()
	p.mu.Lock()
	p.out--
	p.mu.Unlock()
}

// Drop removes the idle directories.
func (p *Pool) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discard(p.idle...)
	p.idle = nil
}

// discard closes directories. A separate goroutine removes them, because removing a
// directory that a script has filled can take long. The caller must hold the lock.
func (p *Pool) discard(list ...*Dir) {
	for _, d := range list {
		d.close()
	}
	p.waste = append(p.waste, list...)
	if p.removing || len(p.waste) == 0 {
		return
	}
	p.removing = true
	go func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for len(p.waste) > 0 {
			d := p.waste[0]
			p.waste = slices.Delete(p.waste, 0, 1)
			p.mu.Unlock()
			d.parent.RemoveAll(d.name)
			p.mu.Lock()
		}
		p.removing = false
	}()
}

// planSweep schedules a sweep if there are several idle directories. The caller must hold the
// lock.
func (p *Pool) planSweep() {
	if !p.sweeping && len(p.idle) > 1 {
		p.sweeping = true
		time.AfterFunc(sweepEvery, p.sweep)
	}
}

// sweep removes the directories that were not needed since the last sweep.
func (p *Pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweeping = false
	spare := max(0, len(p.idle)+p.out-max(1, p.peak))
	spare = min(spare, len(p.idle))
	p.discard(p.idle[:spare]...)
	p.idle = slices.Delete(p.idle, 0, spare)
	p.peak = p.out
	p.planSweep()
}
