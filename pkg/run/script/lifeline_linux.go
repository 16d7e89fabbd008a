package script

import "golang.org/x/sys/unix"

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
func (l *lifeline) close() {
	unix.Close(l[0])
	unix.Close(l[1])
}
