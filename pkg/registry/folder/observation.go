package folder

import "path/filepath"

// A Observation is one path that was looked at, and how it was then.
type Observation struct {
	Name     string // below the directory; an absolute path elsewhere (icons)
	Resolved string // of an absolute path: with links resolved
	Stamp    Stamp
}

// Observe looks at an absolute path. Links are followed, as those who read icon
// files do, and remembered with where they lead.
func Observe(path string) Observation {
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Observation{Name: path}
	}
	return Observation{path, physical, StampOfPath(physical)}
}
