package capacity

import "golang.org/x/sys/windows"

// Files returns 0, because Windows does not limit open files.
func Files() int { return 0 }

func limits() (memory int64, processes int) { return 0, 0 }

func spaceOf(dir string) Space {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Space{Dir: dir}
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return Space{Dir: dir}
	}
	return Space{Dir: dir, Free: int64(max(1, min(free, 1<<62)))}
}
