package script

import "golang.org/x/sys/unix"

// waitForEnd waits until a child has ended and leaves its status for reap.
func waitForEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
