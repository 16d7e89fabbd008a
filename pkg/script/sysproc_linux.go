package script

import "syscall"

// sysProc puts the script into a session of its own, which has no terminal (T-42), and has the kernel
// kill it when the thread that forks it ends. Go ends a thread only when a
// goroutine that is locked to it returns, which only those of confinements do,
// after their last script. So the thread that forked outlives the script. pidfd, when not nil, gets a
// descriptor of the process.
func sysProc(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: pidfd}
}
