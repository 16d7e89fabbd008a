package capacity

import "golang.org/x/sys/unix"

// machineMemory returns the memory of the machine in bytes, or 0.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}

func isMemory(s *unix.Statfs_t) bool { return s.Type == unix.TMPFS_MAGIC }
