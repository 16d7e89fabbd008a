//go:build unix && !linux

package script

import "syscall"

func sysProc(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
