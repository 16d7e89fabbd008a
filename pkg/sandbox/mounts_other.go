//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
)

// A mountTable is empty: the mounts of this system are not known.
type mountTable struct{}

func readMounts() (mountTable, error) { return mountTable{}, nil }

func (mountTable) aliases(string) []string { return nil }

func (mountTable) controls() (all, processes []string) { return nil, nil }

// lookAt looks at a path, without following a last link. It does not identify files.
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
