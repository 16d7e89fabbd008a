//go:build unix

package socket

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long lock tries. Other servers have the lock for a moment only. A program that keeps it stops nobody.
const patience = 2 * time.Second

// lock locks a folder until it is closed, if its file system has locks.
func lock(folder *os.File) {
	const pause = 5 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK && err != unix.EINTR {
			return
		}
	}
}
