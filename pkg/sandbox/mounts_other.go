//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
)

// A mountTable is empty, because the mounts of this system are unknown.
type mountTable struct{}

func readMounts() (mountTable, error) { return mountTable{}, nil }

func (mountTable) aliases(string) []string { return nil }

func (mountTable) controls() (all, processes []string) { return nil, nil }

// statusOf looks up a path. It does not follow a link at the end of the path, and does not identify files.
func statusOf(path string) (s fileStatus) {
	info, err := os.Lstat(path)
	if s.err = err; err != nil {
		return s
	}
	if s.mode = info.Mode(); s.mode&fs.ModeSymlink != 0 {
		s.link, s.err = os.Readlink(path)
	}
	return s
}

func (h *Confinement) refusal(string) Refusal { return NotRefused }
