package sandbox

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// A fileID identifies a file independently of its path.
type fileID struct{ dev, ino uint64 }

// A view caches lookups in the file system for one guard. It is safe for concurrent use.
type view struct {
	mounts mountTable

	mu   sync.Mutex
	seen map[string]fileStatus
}

type fileStatus struct {
	err  error // the lookup failed
	id   fileID
	mode fs.FileMode
	link string // the target of a symbolic link
}

func newView() (*view, error) {
	mounts, err := readMounts()
	return &view{mounts: mounts, seen: map[string]fileStatus{}}, err
}

// status returns the result of a lookup of a path whose folder contains no links.
func (v *view) status(path string) fileStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, known := v.seen[path]
	if !known {
		s = statusOf(path)
		v.seen[path] = s
	}
	return s
}

// identify returns the id of the file at a path. It does not follow a link.
func (v *view) identify(path string) (id fileID, ok bool) {
	s := v.status(path)
	return s.id, s.err == nil && s.id != fileID{}
}

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 40

// follow resolves an absolute path. links are the paths of the links on the way. If the file does not
// exist, real is the path that it would have, and err the reason.
func (v *view) follow(path string) (real string, links []string, err error) {
	const separator = string(filepath.Separator)
	volume := filepath.VolumeName(path)
	real, path = volume+separator, path[len(volume):]
	for path != "" {
		name, rest, _ := strings.Cut(path, separator)
		switch name {
		case "", ".":
			path = rest
			continue
		case "..":
			real, path = filepath.Dir(real), rest
			continue
		}
		next := filepath.Join(real, name)
		at := v.status(next)
		switch {
		case at.err != nil:
			return filepath.Join(next, rest), links, at.err
		case at.mode&fs.ModeSymlink == 0:
			real, path = next, rest
			continue
		case len(links) == maxLinks:
			return filepath.Join(next, rest), links, &fs.PathError{Op: "follow", Path: next, Err: fs.ErrInvalid}
		}
		links = append(links, next)
		volume := filepath.VolumeName(at.link)
		if filepath.IsAbs(at.link) {
			real = volume + separator
		}
		path = at.link[len(volume):] + separator + rest
	}
	return real, links, nil
}
