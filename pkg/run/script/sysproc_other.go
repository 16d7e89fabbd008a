//go:build unix && !linux

package script

import "syscall"

// sysProc puts the script into its own process group without a terminal (T-42).
func sysProc(*int) *syscall.SysProcAttr { return withoutTerminal() }
