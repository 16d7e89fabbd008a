package confine

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Notification is a system call that waits for a listener (struct seccomp_notif).
type Notification struct {
	ID          uint64
	Thread      uint32
	flags       uint32
	Number      int32
	Arch        uint32
	Instruction uint64
	Arguments   [6]uint64
}

// A Response is the answer of a listener (struct seccomp_notif_resp).
type Response struct {
	ID    uint64
	Value int64
	Error int32 // negative
	Flags uint32
}

var errNoSender = errors.New("no process has this filter any more")

// Receive waits for a notification, with a timeout in milliseconds as for poll(2). ok is false
// after the timeout. Receive returns an error if no process has the filter any more.
func Receive(listener, milliseconds int) (n Notification, ok bool, err error) {
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		switch ready, err := unix.Poll(fds, milliseconds); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || ready == 0:
			return n, false, err
		case fds[0].Revents&unix.POLLIN == 0:
			return n, false, errNoSender
		}
		n = Notification{} // as the kernel requires
		switch err := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); {
		case err == nil:
			return n, true, nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOENT): // ENOENT: the process was killed
			return n, false, err
		}
	}
}

// Respond lets a call continue or fail. It returns an error if the process was killed.
func Respond(listener int, r Response) error {
	for {
		err := control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Waits reports whether the call still waits. Otherwise, data that was read from its process may
// belong to another process.
func (n *Notification) Waits(listener int) bool {
	id := n.ID
	return control(listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

func control(listener int, request uintptr, value unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), request, uintptr(value)); errno != 0 {
		return errno
	}
	return nil
}
