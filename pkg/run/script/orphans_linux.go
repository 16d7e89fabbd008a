package script

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// orphanPause is the pause between two searches for orphans.
const orphanPause = time.Second

// CollectOrphans collects processes that scripts have left running and that have ended, until ctx ends. The kernel
// makes such orphans children of process 1 of a container, and of a child subreaper. There they would remain as
// zombies. In any other process, CollectOrphans returns at once (P-909).
func (r *Runner) CollectOrphans(ctx context.Context) {
	if !adopts() {
		return
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select { // a busy server collects once for the many children that end during a pause
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		r.collectOrphans()
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
		pause.Reset(orphanPause)
	}
}

// adopts reports whether the kernel makes orphans children of this process.
func adopts() bool {
	var subreaper int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&subreaper)), 0, 0, 0)
	return os.Getpid() == 1 || err == nil && subreaper != 0
}

// collectOrphans collects the ended children that are not scripts. Each script's own goroutine needs its status.
func (r *Runner) collectOrphans() {
	var ended unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &ended, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || ended.Signo == 0 {
		return
	}
	self := strconv.Itoa(os.Getpid())
	list, _ := processes()
	for _, pid := range list {
		s, ok := statusOf(pid)
		if number, err := strconv.Atoi(pid); ok && s.parent == self && !s.alive && err == nil {
			r.collectOrphan(number)
		}
	}
}

// collectOrphan collects an ended child unless it is a script. While the locks are held, each script that has started
// is in groups.
func (r *Runner) collectOrphan(pid int) {
	r.starting.Lock()
	defer r.starting.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.groups[pid] {
		unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// AdoptOrphans makes this process the parent of processes that scripts leave running. So [Runner.KillLeft] finds those
// that have left their group.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killOrphans kills and collects the children in other sessions that are not running scripts. It reports whether there
// were any, because their own children are orphans then.
func (r *Runner) killOrphans() (found bool) {
	session, err := unix.Getsid(0)
	if err != nil || unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD {
		return false
	}
	r.starting.Lock()
	defer r.starting.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	self := strconv.Itoa(os.Getpid())
	list, _ := processes()
	for _, name := range list {
		s, ok := statusOf(name)
		pid, err := strconv.Atoi(name)
		if !ok || err != nil || s.parent != self || s.session == strconv.Itoa(session) || r.groups[pid] ||
			unix.Kill(pid, unix.SIGKILL) != nil {
			continue
		}
		if _, err := unix.Wait4(pid, nil, 0, nil); err == nil {
			found = true
		}
	}
	return found
}
