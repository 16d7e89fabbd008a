//go:build !linux

package registry

import "io/fs"

// entriesOf keeps of a directory what may be visited.
func entriesOf(found []fs.DirEntry) []entry {
	list := make([]entry, 0, len(found))
	for _, e := range found {
		if (e.IsDir() || e.Type().IsRegular()) && !hidden(e.Name()) {
			list = append(list, entry{e.Name(), e.IsDir()})
		}
	}
	sortEntries(list)
	return list
}
