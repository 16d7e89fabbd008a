//go:build !linux

package folder

import "io/fs"

// entriesOf returns the entries that may be visited.
func entriesOf(found []fs.DirEntry) []Entry {
	list := make([]Entry, 0, len(found))
	for _, e := range found {
		if (e.IsDir() || e.Type().IsRegular()) && !Hidden(e.Name()) {
			list = append(list, Entry{e.Name(), e.IsDir()})
		}
	}
	sortEntries(list)
	return list
}
