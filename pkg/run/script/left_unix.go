//go:build unix

package script

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/capacity"
)

// A leftGroup is the process group of an ended script that still has members (T-48).
//
// Its number is the process number of the script. The kernel does not reuse the number while the
// group has members. So two conditions identify the group. No process has its number,
// which the leader of a new group would have. Its lifeline is still tied to it.
type leftGroup struct {
	id   int
	line *lifeline // may be nil
}

func (g *leftGroup) exists() bool {
	return unix.Kill(g.id, 0) == unix.ESRCH && (g.line == nil || g.line.tied()) && groupExists(g.id)
}

// mostTied returns the maximum number of lifelines of remaining groups. The oldest lifelines are closed. A group
// without a lifeline survives a SIGKILL of this process.
var mostTied = sync.OnceValue(func() int { return tiedWithin(capacity.Files()) })

// tiedWithin returns the maximum number of lifelines, given a limit on open files. Each needs two. On a busy machine,
// scripts that are killed at once all leave such groups, and other scripts must be able to start (T-53).
func tiedWithin(files int) int { return max(1, min(capacity.PartsOf(files).Left/2, 32)) }

// Remaining processes get some time to end before they are reported, such as the last program of a
// pipeline. The checks become less frequent.
const (
	firstMoment = 100 * time.Microsecond
	lastMoment  = 4 * time.Millisecond
)

// young is the maximum age of a script for youngGroupAlive. In this time, the process numbers cannot wrap around.
const young = 200 * time.Millisecond

// outlives reports whether a group has living members after its script has ended. took is the
// duration of the script.
func outlives(pgid int, took time.Duration) bool {
	alive := groupAlive
	if took < young {
		alive = youngGroupAlive
	}
	for moment := firstMoment; moment <= lastMoment; moment *= 2 {
		if !alive(pgid) {
			return false
		}
		time.Sleep(moment)
		if !groupExists(pgid) {
			return false
		}
	}
	return groupAlive(pgid)
}

// keep stores a remaining group, and removes ended groups.
func (r *Runner) keep(g leftGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = append(slices.DeleteFunc(r.left, func(old leftGroup) bool {
		if old.exists() {
			return false
		}
		old.untie()
		return true
	}), g)
	tied := 0
	for i := len(r.left) - 1; i >= 0; i-- {
		if r.left[i].line == nil {
			continue
		}
		if tied++; tied > mostTied() {
			r.left[i].untie()
		}
	}
	if r.stopped {
		r.signalLeft(unix.SIGKILL)
	}
}

func (g *leftGroup) untie() {
	if g.line != nil {
		g.line.release()
		g.line.close()
		g.line = nil
	}
}

// signalLeft signals the remaining groups. The caller holds the lock.
func (r *Runner) signalLeft(sig unix.Signal) {
	for _, g := range r.left {
		if g.exists() {
			unix.Kill(-g.id, sig)
		}
	}
}

// KillLeft kills what ended scripts have left running: their groups and, after [AdoptOrphans], all other processes.
func (r *Runner) KillLeft() {
	r.mu.Lock()
	r.signalLeft(unix.SIGKILL)
	r.mu.Unlock()
	for r.killOrphans() {
	}
}

// End ends all scripts, and prevents new ones. Remaining groups get SIGTERM and, after a second,
// SIGKILL. [Runner.KillAll] ends this grace period. End returns the remaining groups.
func (r *Runner) End() (left []int) {
	r.mu.Lock()
	r.stopped = true
	for _, g := range r.left {
		if g.exists() && groupAlive(g.id) {
			left = append(left, g.id)
		}
	}
	r.signalLeft(unix.SIGTERM)
	r.mu.Unlock()
	end := time.Now().Add(defaultGrace)
	for pace := firstPace; time.Now().Before(end) && r.leftAlive(); pace = min(2*pace, defaultInterval) {
		time.Sleep(pace)
	}
	r.KillAll()
	for end, pace := time.Now().Add(killMoment), firstPace; time.Now().Before(end) && r.leftAlive(); pace *= 2 {
		time.Sleep(pace)
	}
	return left
}

// killMoment limits the wait after SIGKILL, because a process may be stuck in the kernel.
const killMoment = 200 * time.Millisecond

// leftAlive reports whether a remaining group has living members.
func (r *Runner) leftAlive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.left, func(g leftGroup) bool { return g.exists() && groupAlive(g.id) })
}
