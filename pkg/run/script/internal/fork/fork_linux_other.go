//go:build linux && !amd64 && !arm64

package fork

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Exec starts a program like [syscall.ForkExec]. Its process group becomes the owner of the descriptors soon after the
// program has started.
func Exec(program string, argv []string, attr *syscall.ProcAttr, owned []int, _ uint64) (int, error) {
	pid, err := syscall.ForkExec(program, argv, attr)
	if err != nil {
		return 0, err
	}
	for _, fd := range owned {
		unix.FcntlInt(uintptr(fd), unix.F_SETOWN, -pid)
	}
	return pid, nil
}
