//go:build unix && !linux

package script

import "golang.org/x/sys/unix"

// waitForEnd waits until a child has ended and leaves its status for reap.
// The BSDs have kqueue for it, which reports a process that is gone already
// as ESRCH.
func waitForEnd(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return // reap then does the waiting
	}
	defer unix.Close(kq)
	event := unix.Kevent_t{Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&event, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	for {
		_, err := unix.Kevent(kq, []unix.Kevent_t{event}, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR {
			return
		}
	}
}
