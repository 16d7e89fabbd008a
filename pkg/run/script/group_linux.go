package script

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// groupExists reports whether a process group has members, including zombies.
func groupExists(pgid int) bool { return unix.Kill(-pgid, 0) != unix.ESRCH }

// groupAlive reports whether a process group has living members. Zombies do not count, because the
// init process of many containers never collects them.
func groupAlive(pgid int) bool {
	if !groupExists(pgid) {
		return false
	}
	list, err := processes()
	return err != nil || slices.ContainsFunc(list, func(pid string) bool { return livesIn(pgid, pid) })
}

// processes returns the numbers of all processes.
func processes() ([]string, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	return slices.DeleteFunc(names, func(name string) bool { return name[0] < '0' || name[0] > '9' }), err
}

// mostYounger is the number of process numbers up to which checking each is cheaper than listing all processes.
const mostYounger = 1000

// youngGroupAlive is groupAlive for the group of a script that started a moment ago. Process
// numbers are assigned in order, so the members have numbers shortly after the script's. Every
// script with a process substitution needs this check, because its zombie is still there. So it
// must be cheap.
func youngGroupAlive(pgid int) bool {
	last := lastProcess()
	if last < pgid || last-pgid > mostYounger { // the numbers wrapped around, or there were many
		return groupAlive(pgid)
	}
	for pid := pgid + 1; pid <= last; pid++ {
		if group, err := unix.Getpgid(pid); err == nil && group == pgid && livesIn(pgid, strconv.Itoa(pid)) {
			return true
		}
	}
	return false
}

// lastProcess returns the number of the process that started last, or 0 if unknown.
func lastProcess() int {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(load[bytes.LastIndexByte(load, ' ')+1:])))
	return pid
}

// livesIn reports whether a process is alive and a member of a group.
func livesIn(pgid int, pid string) bool {
	s, ok := statusOf(pid)
	return ok && s.alive && s.group == strconv.Itoa(pgid)
}

// A processStatus is a part of /proc/PID/stat.
type processStatus struct {
	alive                  bool // and not a zombie
	parent, group, session string
}

func statusOf(pid string) (s processStatus, ok bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	// pid (command) state parent group session …; a command may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 4 {
		return s, false
	}
	return processStatus{fields[0][0] != 'Z' && fields[0][0] != 'X', string(fields[1]), string(fields[2]),
		string(fields[3])}, true
}

// orphanPause is the pause between two searches for orphans.
const orphanPause = time.Second

// CollectOrphans collects processes that scripts have left running and that have ended, until ctx ends. The kernel
// makes such orphans children of process 1 of a container, and of a child subreaper. There they would remain as
// zombies. In any other process, CollectOrphans returns at once.
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

// A lifeline makes the kernel kill a process group when this process ends in any way, without a
// helper process.
//
// A lifeline is a pipe whose ends are both in this process. In O_ASYNC mode, the kernel signals the
// "owner" of a descriptor when the other end changes. The owner is the script's process group, and
// the signal is SIGKILL. Nothing is written and no end is closed while the group has members. So
// the first change is the end of this process.
//
// The new process ties the lifeline itself, before it runs the script (package fork). If this
// process ends before that, the parent-death signal (system_linux.go) ends the new one. That signal
// only reaches the script itself, and comes from the end of the forking thread.
type lifeline [2]int

// newLifeline returns nil if the kernel does not support lifelines. The error is a lack of descriptors.
func newLifeline() (*lifeline, error) {
	var l lifeline
	if err := unix.Pipe2(l[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	for _, fd := range l {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETSIG, int(unix.SIGKILL))
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK)
		}
		if err != nil {
			l.close()
			return nil, nil
		}
	}
	return &l, nil
}

// ends returns the descriptors that a process group owns. l may be nil.
func (l *lifeline) ends() []int {
	if l == nil {
		return nil
	}
	return l[:]
}

// tied reports whether the group of the lifeline has members. The kernel stores the group and not
// its number, so a new group with the same number does not count. Before Linux 5.12, the result is
// always true.
func (l *lifeline) tied() bool {
	owner, err := unix.FcntlInt(uintptr(l[0]), unix.F_GETOWN, 0)
	return err != nil || owner != 0 // a small negative number looks like an error
}

// release unties the lifeline after the group has ended.
func (l *lifeline) release() { l.own(0) }

func (l *lifeline) own(owner int) {
	for _, fd := range l {
		unix.FcntlInt(uintptr(fd), unix.F_SETOWN, owner)
	}
}

// close must follow release: closing a tied lifeline kills the group.
func (l *lifeline) close() { closeAll(l[:]...) }
