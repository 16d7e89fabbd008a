package script

import "syscall"

// sysProc puts the script into its own process group without a terminal (T-42). The kernel kills the
// script when the thread that forks it ends. Go ends a thread only when a goroutine that is locked to
// it returns, which only those of confinements do, after their last script. So the thread outlives the
// script. pidfd, when not nil, gets a descriptor of the process.
func sysProc(pidfd *int) *syscall.SysProcAttr {
	attr := withoutTerminal()
	attr.Pdeathsig, attr.PidFD = syscall.SIGKILL, pidfd
	return attr
}
