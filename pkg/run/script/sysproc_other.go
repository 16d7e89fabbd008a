//go:build unix && !linux

package script

import "syscall"

// sysProc puts the script into its own process group without a terminal (T-42).
func sysProc(*int) *syscall.SysProcAttr { return withoutTerminal() }

// forkExec starts a program, which is never confined on this system.
func (u *Confined) forkExec(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	return syscall.ForkExec(program, argv, attr)
}
