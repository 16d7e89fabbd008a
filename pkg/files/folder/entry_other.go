//go:build !linux

package folder

import "io/fs"

func entriesOf(found []fs.DirEntry) []Entry {
	list := make([]Entry, 0, len(found))
	for _, e := range found {
		odd := !e.IsDir() && !e.Type().IsRegular()
		if !hidden(e.Name()) && (!odd || isOdd(e.Name())) {
			list = append(list, Entry{Name: e.Name(), IsDir: e.IsDir(), Odd: odd})
		}
	}
	sortEntries(list)
	return list
}
