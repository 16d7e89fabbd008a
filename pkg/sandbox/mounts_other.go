//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
)

// A mountTable are the mounts of this system, which does not tell of them.
type mountTable struct{}

func readMounts() (mountTable, error) { return mountTable{}, nil }

func (mountTable) aliases(string) []string { return nil }

// lookAt returns what there is at a path. Files are told apart by their paths only.
func lookAt(path string) (s sight) {
	info, err := os.Lstat(path)
	if s.err = err; err != nil {
		return s
	}
	if s.mode = info.Mode(); s.mode&fs.ModeSymlink != 0 {
		s.link, s.err = os.Readlink(path)
	}
	return s
}
