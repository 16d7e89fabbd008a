package script

import "golang.org/x/sys/unix"

// A lifeline has the kernel kill a process group when this process ends, in
// whatever way, without a helper process.
//
// It is a pipe of which both ends are in this process alone. Both are in
// O_ASYNC mode, which makes the kernel signal the "owner" of a descriptor when
// its other end changes state; the owner is set to the script's process group
// and the signal to SIGKILL. Nothing is ever written and neither end is closed
// while something of the group runs, so the first change of state is that one end is
// closed because the process is gone. The parent-death signal (sysproc_linux.go)
// reaches the script alone, not its children, and is tied to the thread that
// forked; it covers the moment before the lifeline is tied.
type lifeline [2]int

// newLifeline returns nil where the kernel cannot do it. The error is a want of
// descriptors.
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

// tie makes the group of process pid the one that dies with us.
func (l *lifeline) tie(pid int) { l.own(-pid) }

// tied reports whether the group that the lifeline is tied to has members. The kernel remembers the group
// itself, not its number, so a new group with the same number does not count (Linux 5.12; an older kernel
// returns the number and the answer is always true).
func (l *lifeline) tied() bool {
	owner, err := unix.FcntlInt(uintptr(l[0]), unix.F_GETOWN, 0)
	return err != nil || owner != 0 // a small negative number looks like an error
}

// release unties it, when the group has ended.
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
