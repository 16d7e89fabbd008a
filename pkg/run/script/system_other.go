//go:build unix && !linux

package script

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var hasPidfd = func() bool { return false }

// rssUnit is the unit of memory in getrusage, in bytes.
const rssUnit = 1

// newWaiter returns a function that waits until a child has ended, and leaves its status for reap. It uses kqueue,
// which returns ESRCH for a process that has already ended.
func newWaiter() (wait func(pid int), err error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	return func(pid int) {
		defer unix.Close(queue)
		event := unix.Kevent_t{Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
		unix.SetKevent(&event, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
		for {
			_, err := unix.Kevent(queue, []unix.Kevent_t{event}, make([]unix.Kevent_t, 1), nil)
			if err != unix.EINTR {
				return
			}
		}
	}, nil
}

// groupExists reports whether a process group has members that can be signalled. macOS returns
// EPERM for a group of zombies.
func groupExists(pgid int) bool { return unix.Kill(-pgid, 0) == nil }

// youngGroupAlive is groupAlive for the group of a script that started a moment ago.
func youngGroupAlive(pgid int) bool { return groupAlive(pgid) }

// groupAlive reports whether a process group has living members.
func groupAlive(pgid int) bool { return groupExists(pgid) }

// A lifeline does nothing. Only Linux can signal a process group when another process ends.
type lifeline struct{}

func newLifeline() (*lifeline, error) { return nil, nil }
func (l *lifeline) tied() bool        { return true }
func (l *lifeline) release()          {}
func (l *lifeline) close()            {}

// newPipe returns a pipe whose reading end is non-blocking.
func newPipe() (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	err = unix.Pipe(p[:])
	if err == nil {
		unix.CloseOnExec(p[0])
		unix.CloseOnExec(p[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, -1, err
	}
	unix.SetNonblock(p[0], true)
	return p[0], p[1], nil
}

func widen(fd int) {}

// newSignal returns a pipe.
func newSignal() (r, w int, err error) { return newPipe() }

func sealDescriptors() { sealOneByOne("/dev/fd") }

// sysProc puts the script into its own process group without a terminal.
func sysProc(*int) *syscall.SysProcAttr { return withoutTerminal() }

// forkExec starts a program, which is never confined on this system.
func (u *Confined) forkExec(program string, argv []string, attr *syscall.ProcAttr, _ *lifeline) (int, error) {
	return syscall.ForkExec(program, argv, attr)
}

// A waitSet waits until one of several descriptors is readable.
type waitSet struct{ fds [sources]int }

func newWaitSet() (*waitSet, error) { return &waitSet{noDescriptors}, nil }

func (w *waitSet) watch(s source, fd int) error {
	w.fds[s] = fd
	return nil
}

func (w *waitSet) forget(s source) { w.fds[s] = -1 }

// wait waits until a source is readable, and returns the readable ones. It returns none if until passes first.
func (w *waitSet) wait(until time.Time) (ready readySet, err error) {
	var fds [sources]unix.PollFd
	for s, fd := range w.fds {
		fds[s] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	if _, err := unix.Poll(fds[:], milliseconds(time.Until(until))); err != nil {
		return ready, os.NewSyscallError("poll", err)
	}
	for s, fd := range fds {
		ready[s] = fd.Revents != 0
	}
	return ready, nil
}

func (w *waitSet) close() {}

func milliseconds(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
