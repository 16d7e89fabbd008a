package script

import "syscall"

// sysProc puts the script into its own process group without a terminal (T-42). The kernel kills
// the script when the forking thread ends. Go ends a thread only when a goroutine that is locked to
// it returns. Only goroutines of confinements do that, after their last script. So the thread
// outlives the script. pidfd, if not nil, receives a process descriptor.
func sysProc(pidfd *int) *syscall.SysProcAttr {
	attr := withoutTerminal()
	attr.Pdeathsig, attr.PidFD = syscall.SIGKILL, pidfd
	return attr
}
