package script

import "golang.org/x/sys/unix"

// sealDescriptors prevents scripts from inheriting descriptors of our parent process.
func sealDescriptors() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) != nil {
		sealOneByOne("/proc/self/fd") // before Linux 5.11
	}
}
