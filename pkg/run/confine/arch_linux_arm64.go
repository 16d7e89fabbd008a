package confine

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	firstX32  = 0 // no x32 ABI
)

var legacyByPath, legacyWatches []uintptr
