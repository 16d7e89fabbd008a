package capacity

import "golang.org/x/sys/unix"

// machineMemory returns the memory of the machine in bytes, or 0.
func machineMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}

func isMemory(_ *unix.Statfs_t) bool { return false }
