package folder

import "path/filepath"

// An Observation is a path that a result depends on, with the stamp it had.
type Observation struct {
	Name     string // below the directory; an absolute path elsewhere (icons)
	Resolved string // of an absolute path: with links resolved
	Stamp    Stamp
}

// Observe looks at an absolute path. Links are followed, as when an icon file is
// read, and where they lead is part of the observation.
func Observe(path string) Observation {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Observation{Name: path}
	}
	return Observation{path, resolved, StampOfPath(resolved)}
}
