package folder

import "path/filepath"

// An Observation is a path on which a result depends, with its stamp.
type Observation struct {
	Name     string // relative to the directory, or absolute if it is elsewhere (icons)
	Resolved string // an absolute path with links resolved
	Stamp    Stamp
}

// Observe returns the observation of an absolute path. It follows links, and includes their target.
func Observe(path string) Observation {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Observation{Name: path}
	}
	return Observation{path, resolved, StampOfPath(resolved)}
}
