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
		select { // many children of a busy server end in a pause
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
