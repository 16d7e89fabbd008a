package registry

import "path/filepath"

// A note is one path that was looked at, and how it was then.
type note struct {
	name     string // below the directory; an absolute path elsewhere (icons)
	physical string // of an absolute path: with links resolved
	stamp    stamp
}

// noteOf looks at an absolute path. Links are followed, as those who read icon
// files do, and remembered with where they lead.
func noteOf(path string) note {
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return note{name: path}
	}
	return note{path, physical, stampOfPath(physical)}
}
