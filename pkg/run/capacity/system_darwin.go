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

func spaceOf(dir string) Space {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return Space{Dir: dir}
	}
	return Space{Dir: dir, Free: max(1, int64(s.Bavail)*int64(s.Bsize))}
}
