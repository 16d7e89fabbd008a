//go:build unix && !linux

package script

import "syscall"

// sysProc puts the script into a session of its own, which has no terminal (T-42).
func sysProc(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
