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
// Making and removing one costs as much as starting a script. So one that is
// found clean after a call is put aside under another name, and serves again: a
// script that wrote down its paths finds nothing there any more. It keeps as
// many as were in use at once lately, at least one; but so few that their descriptors
// do not keep scripts from being started (T-53).
type Pool struct {
	path    string
	private func() (*os.Root, error)
	keep    int // idle directories at most

	mu       sync.Mutex
	idle     []*Dir
	last     int    // the number in the last name given
	out      int    // how many are in use
	most     int    // the most there were since the last sweep
	sweeping bool   // a sweep is due
	waste    []*Dir // to be removed
	removing bool   // somebody is at it
}

// NewPool returns a pool below a private directory, of which at most keep are idle. private
// opens that directory; it is called for every hand-off directory, and may return another one
// after the last was lost.
func NewPool(path string, keep int, private func() (*os.Root, error)) *Pool {
	return &Pool{path: path, private: private, keep: keep}
}

// perDir is how many descriptors a directory takes: two folders, opened twice, and four files.
const perDir = 8

// idleWithin is how many idle directories take a quarter of so many descriptors.
func idleWithin(descriptors uint64) int { return int(max(1, min(descriptors/4/perDir, 1000))) }

const mostWaiting = 1000

// waitingWithin is how many waiting scripts take a quarter of so many descriptors.
func waitingWithin(descriptors uint64) int {
	const perScript = perDir + 6 // its end, its output, the lifeline and what it is confined by
	return int(max(1, min(descriptors/4/perScript, mostWaiting)))
}

// idleTrust is for how long an idle directory is taken to be as it was: programs that clean directories
// of temporary files remove what is days old, file by file.
const idleTrust = time.Minute

// sweepEvery is the time between two sweeps.
const sweepEvery = 800 * time.Millisecond

// Take returns a directory in its first state.
func (p *Pool) Take() (*Dir, error) {
	parent, err := p.private()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	name := p.name("call.")
	p.out++
	p.most = max(p.most, p.out)
	var d *Dir
	if n := len(p.idle); n > 0 {
		d, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if d != nil {
		if d.parent == parent && parent.Rename(d.name, name) == nil {
			d.moved(name)
			if time.Since(d.idle) < idleTrust || d.tidy() {
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

// name makes a name that was not given before. The lock is held.
func (p *Pool) name(prefix string) string {
	p.last++
	return prefix + strconv.Itoa(p.last)
}

// Give takes a directory back. alone says that no process of the call is known
// to be left; whether one still holds a file open is found out here.
func (p *Pool) Give(d *Dir, alone bool) {
	p.mu.Lock()
	name := p.name("idle.")
	p.mu.Unlock()
	// First the name goes, so that nobody opens a file while it is judged.
	clean := alone && d.parent.Rename(d.name, name) == nil
	if clean {
		d.moved(name)
		clean = d.tidy()
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

// Keep leaves a directory where it is, for somebody to look at.
func (p *Pool) Keep(d *Dir) {
	d.close()
	p.mu.Lock()
	p.out--
	p.mu.Unlock()
}

// Drop gives up the directories that are not in use.
func (p *Pool) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discard(p.idle...)
	p.idle = nil
}

// discard closes directories, and has them removed by a goroutine of their own: a
// script may have filled one with more than can be removed in no time. The lock is held.
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

// planSweep sees to it that directories nobody needs do not stay. The lock is
// held.
func (p *Pool) planSweep() {
	if !p.sweeping && len(p.idle) > 1 {
		p.sweeping = true
		time.AfterFunc(sweepEvery, p.sweep)
	}
}

// sweep removes the directories that were not needed since the last one.
func (p *Pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweeping = false
	spare := max(0, len(p.idle)+p.out-max(1, p.most))
	spare = min(spare, len(p.idle))
	p.discard(p.idle[:spare]...)
	p.idle = slices.Delete(p.idle, 0, spare)
	p.most = p.out
	p.planSweep()
}
