package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/files/fsys"
)

// A fence contains files and folders that a capability does not cover. It identifies them by path,
// and by device and inode. So another spelling of a path, a bind mount or a hard link leads to the
// same file (CF-60).
type fence struct {
	view   *view
	paths  []string        // without links; some may not exist
	inside map[fileID]bool // the files and folders at the paths
	above  map[fileID]bool // the folders above the paths
}

// newFence returns a fence with the targets of the paths and the links on the way. The links count,
// because a script that can replace a link chooses its target.
func newFence(v *view, paths []string) *fence {
	f := &fence{view: v, inside: map[fileID]bool{}, above: map[fileID]bool{}}
	known := map[string]bool{}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		real, links, _ := v.follow(path)
		f.surround(real, known)
		for _, link := range links {
			f.surround(link, known)
		}
		for _, alias := range v.mounts.aliases(real) {
			f.surround(alias, known)
		}
	}
	return f
}

// surround adds a path without links. known are the folders that are in above already.
func (f *fence) surround(path string, known map[string]bool) {
	if slices.Contains(f.paths, path) {
		return
	}
	f.paths = append(f.paths, path)
	if id, ok := f.view.identify(path); ok {
		f.inside[id] = true
	}
	for dir := path; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if known[dir] {
			break
		}
		known[dir] = true
		if id, ok := f.view.identify(dir); ok {
			f.above[id] = true
		}
	}
}

// covers reports whether a path without links leads to a file inside the fence, or below one.
func (f *fence) covers(path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if f.has(at) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// has reports whether a path without links leads to a file that was added to the fence.
func (f *fence) has(path string) bool {
	if slices.Contains(f.paths, path) {
		return true
	}
	id, ok := f.view.identify(path)
	return ok && f.inside[id]
}

// holds reports whether a folder contains a file inside the fence.
func (f *fence) holds(dir string) bool {
	if id, ok := f.view.identify(dir); ok && f.above[id] {
		return true
	}
	return slices.ContainsFunc(f.paths, func(path string) bool { return path != dir && fsys.Within(dir, path) })
}

// allow adds a path without links to a list of usable files, except files inside the fence. Landlock
// has no exceptions, so a folder that contains a file inside the fence is added entry by entry, and
// holds is true.
func (f *fence) allow(list *[]string, path string) (holds bool) {
	if f.covers(path) {
		return false
	}
	return f.add(list, path)
}

// add is allow for a path that the fence does not cover.
func (f *fence) add(list *[]string, path string) (holds bool) {
	if !f.holds(path) {
		*list = append(*list, path)
		return false
	}
	for _, name := range entries(path) {
		if entry := filepath.Join(path, name); !f.has(entry) {
			f.add(list, entry)
		}
	}
	return true
}

// maxEntries is the maximum number of entries of one directory that are added.
const maxEntries = 256

// entries returns at most maxEntries names of regular files and directories in a directory.
func entries(dir string) (names []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(maxEntries)
	for _, e := range list {
		if e.IsDir() || e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
