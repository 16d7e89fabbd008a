package source

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/events/trail"
)

// extension is the end of the names of records in a folder.
const extension = ".jsonl"

// Files are the records of a file or a folder. Each record is a file that grows, and the ended files before it.
type Files struct {
	path    string
	folder  bool
	fresh   bool // begin at the end of records that exist already
	report  Report
	records map[string]*record
	counts  Counts
	next    int // the record that is read first
}

// NewFiles returns the records below a path, from the positions that an earlier run returned. If fresh is set, records
// without a position begin with the lines that are written from now on.
func NewFiles(path string, positions map[string]Position, fresh bool, report Report) (*Files, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f := &Files{path: path, folder: info.IsDir(), fresh: fresh, report: report, records: map[string]*record{}}
	for name, position := range positions {
		if f.folder || name == filepath.Base(path) { // the position may be from a run with another path
			f.add(name).position = position
		}
	}
	err = f.scan()
	f.fresh = false
	return f, err
}

func (f *Files) add(name string) *record {
	path := f.path
	if f.folder {
		path = filepath.Join(f.path, name)
	}
	r := &record{path: path, report: f.report, counts: &f.counts}
	f.records[name] = r
	return r
}

// scan finds new records, and forgets those whose files are gone.
func (f *Files) scan() error {
	var names []string
	if f.folder {
		entries, err := os.ReadDir(f.path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), extension) && e.Type().IsRegular() {
				names = append(names, e.Name())
			}
		}
	} else {
		names = []string{filepath.Base(f.path)}
	}
	for _, name := range names {
		if f.records[name] != nil {
			continue
		}
		r := f.add(name)
		if f.fresh {
			if err := r.skip(); err != nil {
				return err
			}
		}
	}
	maps.DeleteFunc(f.records, func(name string, r *record) bool {
		return !slices.Contains(names, name) && r.gone()
	})
	return nil
}

// Read returns lines that were not read before, in the order of each record. It does not wait for new lines. If it
// has used the budget, more lines may be there. After an error it continues with the other records, and returns the
// first error.
func (f *Files) Read(b *Budget) (lines []*trail.Entry, failed error) {
	if err := f.scan(); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(f.records))
	if len(names) == 0 {
		return nil, nil
	}
	f.next %= len(names)
	first := f.next
	for i := range names {
		if b.Empty() {
			break
		}
		f.next = (first + i + 1) % len(names) // each record is the first one in turn
		read, err := f.records[names[(first+i)%len(names)]].read(b)
		lines = append(lines, read...)
		if failed == nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return lines, failed
}

// Positions returns the positions after the lines that were read.
func (f *Files) Positions() map[string]Position {
	positions := map[string]Position{}
	for name, r := range f.records {
		if r.position.File != "" {
			positions[name] = r.position
		}
	}
	return positions
}

// Counts returns the lines that were not returned.
func (f *Files) Counts() Counts { return f.counts }
