package confine

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	firstX32  = 0x40000000 // first number of the x32 ABI
)

var (
	legacyByPath  = []uintptr{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN}
	legacyWatches = []uintptr{unix.SYS_INOTIFY_INIT}
)
