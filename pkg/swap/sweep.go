package swap

import (
	"os"
	"strings"
	"time"
)

// abandoned is how long something must not have changed to be what a run left behind that
// was killed: no run takes so long between two files.
const abandoned = time.Hour

// Sweep removes what runs that were killed left in a directory, files and directories
// whose names begin with a prefix. What cannot be removed stays.
func Sweep(dir *os.Root, prefix string) {
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && time.Since(info.ModTime()) > abandoned {
			dir.RemoveAll(name)
		}
	}
}
