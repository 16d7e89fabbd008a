//go:build unix

package script

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A leftGroup is the process group of a script that has ended, in which something runs on (T-48).
//
// Its number is that of the script's process, and the kernel gives it to no other process as long as the
// group has a member. After that it is free. So a group is taken for the same one only if no process has
// the number itself, which whoever makes a new group of that number has, and if its lifeline is still tied
// to it.
type leftGroup struct {
	id   int
	line *lifeline // nil: there is none
}

func (g *leftGroup) there() bool {
	return unix.Kill(g.id, 0) == unix.ESRCH && (g.line == nil || g.line.tied()) && groupThere(g.id)
}

// maxTied bounds the lifelines of groups that were left, which take two descriptors each. The oldest of more
// is given up; without it the group survives a SIGKILL of this process.
const maxTied = 32

// Something that a script left gets a moment to end before it is reported, as the last program of a
// pipeline may. It is looked at ever less often.
const (
	firstMoment = 100 * time.Microsecond
	lastMoment  = 4 * time.Millisecond
)

// young is how old a script is at most whose children are sought among the latest processes. Within that
// time process numbers cannot all be used and begin anew.
const young = 200 * time.Millisecond

// outlives reports whether something of a group runs on after its script has ended, which took some time.
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
		if !groupThere(pgid) {
			return false
		}
	}
	return groupAlive(pgid)
}

// keep enters a group among those that were left, and forgets the ones that have ended.
func (r *Runner) keep(g leftGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = append(slices.DeleteFunc(r.left, func(old leftGroup) bool {
		if old.there() {
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
		if tied++; tied > maxTied {
			r.left[i].untie()
		}
	}
	if r.stopped {
		r.signalLeft(unix.SIGKILL)
	}
}

// untie gives up the lifeline.
func (g *leftGroup) untie() {
	if g.line != nil {
		g.line.release()
		g.line.close()
		g.line = nil
	}
}

// signalLeft sends a signal to the groups that were left. The lock is held.
func (r *Runner) signalLeft(sig unix.Signal) {
	for _, g := range r.left {
		if g.there() {
			unix.Kill(-g.id, sig)
		}
	}
}

// End ends everything: running scripts at once, and what others left in their groups with SIGTERM and, after
// a grace of a second, SIGKILL. Nothing starts any more. It returns the groups that were left. [Runner.KillAll]
// ends the grace.
func (r *Runner) End() (left []int) {
	r.mu.Lock()
	r.stopped = true
	for _, g := range r.left {
		if g.there() && groupAlive(g.id) {
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

// killMoment bounds the wait for what was killed, as a process may be stuck in the kernel.
const killMoment = 200 * time.Millisecond

// leftAlive reports whether something runs in a group that was left.
func (r *Runner) leftAlive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.left, func(g leftGroup) bool { return g.there() && groupAlive(g.id) })
}
