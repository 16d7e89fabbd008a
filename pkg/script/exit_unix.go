//go:build unix

package script

import "golang.org/x/sys/unix"

// watchExit returns a descriptor that becomes readable, or is hung up, when
// the main process ends. Linux has one for the purpose; elsewhere a goroutine
// waits and closes the other end of a pipe.
func (p *process) watchExit() int {
	if p.pidfd >= 0 {
		return p.pidfd
	}
	r, w, err := newPipe()
	if err != nil {
		return -1
	}
	go func() {
		waitForEnd(p.pid)
		unix.Close(w)
	}()
	return r
}
