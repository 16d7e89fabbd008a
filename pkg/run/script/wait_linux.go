package script

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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

// wait returns the sources that are readable. It returns none at the given time.
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
