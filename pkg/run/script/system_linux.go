package script

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hasPidfd reports whether the kernel has process descriptors (Linux 5.3).
var hasPidfd = sync.OnceValue(func() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// newWaiter returns a function that waits until a child has ended, and leaves its status for reap.
func newWaiter() (wait func(pid int), err error) {
	return func(pid int) {
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}, nil
}

const largePipe = 1 << 20

// newPipe returns a pipe whose reading end is non-blocking.
func newPipe() (r, w int, err error) {
	var p [2]int
	if err = unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	// The ends have separate modes: the script's end blocks.
	unix.FcntlInt(uintptr(p[0]), unix.F_SETFL, unix.O_NONBLOCK) // a new pipe has no other flags
	return p[0], p[1], nil
}

// widen enlarges the buffer of a pipe with much data.
func widen(fd int) { unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, largePipe) }

// newSignal returns a descriptor that is readable after a write of 8 bytes to it.
func newSignal() (r, w int, err error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return fd, fd, err
}

// sealDescriptors prevents scripts from inheriting descriptors of our parent process.
func sealDescriptors() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) != nil {
		sealOneByOne("/proc/self/fd") // before Linux 5.11
	}
}

// sysProc puts the script into its own process group without a terminal. The kernel kills the script when the forking
// thread ends. Go ends a thread only when a goroutine that is locked to it returns. Only goroutines of confinements do
// that, after their last script. So the thread outlives the script. pidfd, if not nil, receives a process descriptor.
func sysProc(pidfd *int) *syscall.SysProcAttr {
	attr := withoutTerminal()
	attr.Pdeathsig, attr.PidFD = syscall.SIGKILL, pidfd
	return attr
}

// rssUnit is the unit of memory in getrusage, in bytes.
const rssUnit = 1024

// A waitSet waits until one of several descriptors is readable. It is an epoll instance inside Go's poller, so that a
// goroutine that waits needs no thread. With a thread for each script, Go's monitor thread looks for blocked threads
// every 20 µs, which took a fifth of the server's processor time.
type waitSet struct {
	epoll  int // descriptor of file
	file   *os.File
	conn   syscall.RawConn
	fds    [sources]int // -1 for none
	events [sources]unix.EpollEvent
	until  time.Time // read deadline of file
}

func newWaitSet() (*waitSet, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create", err)
	}
	unix.SetNonblock(fd, true) // with this, NewFile adds it to Go's poller
	w := &waitSet{epoll: fd, file: os.NewFile(uintptr(fd), "epoll"), fds: noDescriptors}
	w.conn, err = w.file.SyscallConn()
	if err = errors.Join(err, w.file.SetReadDeadline(time.Time{})); err != nil { // it is not in the poller
		w.close()
		return nil, err
	}
	return w, nil
}

// watch adds the descriptor of a source that has no descriptor yet.
func (w *waitSet) watch(s source, fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(s)}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	w.fds[s] = fd
	return nil
}

// forget removes the descriptor of a source, if it has one. Closing the descriptor does not remove it while a process
// between fork and exec has a copy.
func (w *waitSet) forget(s source) {
	if w.fds[s] >= 0 {
		unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, w.fds[s], nil)
		w.fds[s] = -1
	}
}

// wait waits until a source is readable, and returns the readable ones. It returns none if until passes first.
func (w *waitSet) wait(until time.Time) (ready readySet, err error) {
	if !until.Equal(w.until) {
		w.until = until
		w.file.SetReadDeadline(until)
	}
	n := 0
	failed := w.conn.Read(func(uintptr) bool {
		n, err = unix.EpollWait(w.epoll, w.events[:], 0)
		return n != 0 || err != nil
	})
	if err == nil && !errors.Is(failed, os.ErrDeadlineExceeded) {
		err = failed
	}
	for _, event := range w.events[:max(0, n)] {
		ready[event.Fd] = true
	}
	return ready, err
}

func (w *waitSet) close() { w.file.Close() }
