//go:build unix && !linux

package script

import "golang.org/x/sys/unix"

var hasPidfd = func() bool { return false }

// A waiter waits until a child has ended, and leaves its status for reap. It uses kqueue, which
// returns ESRCH for a process that has already ended.
type waiter struct{ queue int }

func newWaiter() (waiter, error) {
	queue, err := unix.Kqueue()
	if err == nil {
		unix.CloseOnExec(queue)
	}
	return waiter{queue}, err
}

func (w waiter) wait(pid int) {
	defer unix.Close(w.queue)
	event := unix.Kevent_t{Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&event, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	for {
		_, err := unix.Kevent(w.queue, []unix.Kevent_t{event}, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR {
			return
		}
	}
}
