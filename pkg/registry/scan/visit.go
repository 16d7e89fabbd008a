package scan

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/folder"
	"mcp-bash/pkg/registry/item"
)

// A Visit is one directory as the discovery of a kind sees it. Whatever it is
// asked about is noted in the directory's record, so that a kind need not know
// that its answer will be used again.
type Visit struct {
	Project *project.Project
	spec    Spec
	tree    int    // which of the kind's trees it lies in
	content string // the content directory, absolute
	label   string // the same for messages, relative to the project where it lies in it
	stop    func(error)

	dir   folder.Dir
	Depth int // levels below the content directory
	rec   *record

	metadata []Metadata // read in this directory
	scratch  []byte     // holds the files of this directory
	arena    []byte     // holds the items of all directories
	work     []byte     // an item is written here first
	listing  []byte
}

type Metadata struct {
	Name string
	item.Source
	Usable bool
	Paired bool // it belongs to a file beside it
	Moved  bool // it speaks of a file elsewhere
}

const (
	scratchSize = 16 << 10
	arenaFirst  = 16 << 10
	arenaNext   = 256 << 10
	listingSize = 32 << 10
)

func newVisit(s *scanner) *Visit {
	return &Visit{Project: s.p, spec: s.spec, tree: s.at, content: s.content, label: s.label, stop: s.stop, listing: make([]byte, listingSize)}
}

// enter turns to another directory.
func (l *Visit) enter(dir folder.Dir, depth int, rec *record) {
	l.dir, l.Depth, l.rec = dir, depth, rec
	l.metadata, l.scratch = l.metadata[:0], l.scratch[:0]
}

// Files yields the names of the files that are no metadata files.
func (l *Visit) Files(yield func(name string) bool) {
	for _, e := range l.rec.entries {
		if !e.IsDir && folder.Unusable(e.Name) == "" && !strings.HasSuffix(e.Name, item.MetadataSuffix) && !yield(e.Name) {
			return
		}
	}
}

// HasFile reports whether there is a regular file of a name in the directory.
func (l *Visit) HasFile(name string) bool { return l.has(folder.Entry{Name: name, IsDir: false}) }

// hasDir reports whether there is a directory of a name in the directory.
func (l *Visit) hasDir(name string) bool { return l.has(folder.Entry{Name: name, IsDir: true}) }

func (l *Visit) has(e folder.Entry) bool {
	at, found := slices.BinarySearchFunc(l.rec.entries, e.Name, func(e folder.Entry, name string) int { return strings.Compare(e.Name, name) })
	return found && l.rec.entries[at] == e
}

// HasFileIn reports whether there is a regular file of a name in a directory in
// this one.
func (l *Visit) HasFileIn(dir, name string) bool {
	if !l.hasDir(dir) {
		return false
	}
	below := dir + "/" + name
	s := l.dir.Stamp(below)
	l.Observed(folder.Observation{Name: below, Stamp: s})
	return s.IsFile()
}

// HasMetadata reports whether there is a metadata file in the directory.
func (l *Visit) HasMetadata() bool {
	return slices.ContainsFunc(l.rec.entries, func(e folder.Entry) bool { return !e.IsDir && strings.HasSuffix(e.Name, item.MetadataSuffix) })
}

// Mode returns the mode of a file of the directory.
func (l *Visit) Mode(file string) fs.FileMode {
	s := l.dir.Stamp(file)
	l.Observed(folder.Observation{Name: file, Stamp: s})
	return s.Mode
}

// MetadataOf returns what a file's metadata file says, nil when it has none
// . It stands until another one is read.
func (l *Visit) MetadataOf(file string) *Metadata {
	for _, name := range item.MetadataNames(file) {
		if name != "" && l.HasFile(name) {
			if m := l.MetadataFile(name); m.Usable {
				m.Paired = true
				return m
			}
		}
	}
	return nil
}

// MetadataFiles yields all metadata files that can be used.
func (l *Visit) MetadataFiles(yield func(*Metadata) bool) {
	for _, e := range l.rec.entries {
		if !e.IsDir && folder.Unusable(e.Name) == "" && strings.HasSuffix(e.Name, item.MetadataSuffix) {
			if m := l.MetadataFile(e.Name); m.Usable && !yield(m) {
				return
			}
		}
	}
}

// MetadataFile reads a metadata file, once in a directory.
func (l *Visit) MetadataFile(name string) *Metadata {
	for i := range l.metadata {
		if l.metadata[i].Name == name {
			return &l.metadata[i]
		}
	}
	m := Metadata{Name: name}
	text, err := l.read(name, item.MaxMetadata)
	if err == nil {
		object, whole, errJSON := item.ParseMetadata(text)
		if err = errJSON; err == nil {
			m.Source, m.Usable = item.NewSource(item.Location{File: l.Label(name), Text: whole}, object), true
		}
	}
	if err != nil && !folder.Vanished(err) {
		l.Log(mcp.Warning, fmt.Sprintf("Malformed metadata %s: %s, using defaults", l.Label(name), err))
	}
	l.metadata = append(l.metadata, m)
	return &l.metadata[len(l.metadata)-1]
}

// ItemName is what an item is called after its metadata file: as it would be
// after the file that it belongs to.
func (l *Visit) ItemName(m *Metadata) string {
	name := strings.TrimSuffix(m.Name, item.MetadataSuffix)
	if l.HasFile(name) {
		return item.Stem(name)
	}
	return name
}

// Unpaired prepares an item for metadata that belongs to no file; nil when it
// does. All files of the directory were asked for theirs before.
func (l *Visit) Unpaired(m *Metadata) *item.Input {
	if m.Paired {
		return nil
	}
	s := l.Input(m.Name, []item.Source{m.Source})
	s.Path = ""
	return s
}

// read returns a file whole.
func (l *Visit) read(name string, limit int) ([]byte, error) {
	file, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.Stamp.Size > uint64(limit) {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	if l.spec.Guarded && file.Exposed {
		l.Recheck()
		if err := l.Project.CheckPath(filepath.Join(l.AbsPath(), name)); err != nil {
			return nil, err
		}
	}
	buf := l.space(int(file.Stamp.Size))
	n, err := file.Read(buf)
	if err != nil {
		l.Recheck()
		return nil, project.PlainError(err)
	}
	return l.use(buf[:n]), nil
}

// Head returns how a file begins, its mode, and its inline header if it has
// one. The beginning stands only until another file is read.
func (l *Visit) Head(name string) (head []byte, mode fs.FileMode, header json.RawMessage, err error) {
	file, err := l.open(name)
	if err != nil {
		return nil, l.rec.observations[len(l.rec.observations)-1].Stamp.Mode, nil, err
	}
	defer file.Close()
	buf := l.space(item.FirstHead)
	n, err := file.Read(buf)
	head, whole := item.Head(buf[:n])
	if err == nil && !whole && n == item.FirstHead {
		buf = append(l.space(item.MaxHead)[:0], head...)[:item.MaxHead]
		n, err = file.Read(buf[item.FirstHead:])
		head, _ = item.Head(buf[:item.FirstHead+n])
	}
	if err != nil {
		l.Recheck()
		return nil, file.Stamp.Mode, nil, project.PlainError(err)
	}
	if header = item.ParseHeader(head); header != nil {
		l.use(head)
	}
	return head, file.Stamp.Mode, header, nil
}

// open opens a file and notes it. What cannot be opened is looked at again
// each time: nothing tells when that changes.
func (l *Visit) open(name string) (folder.File, error) {
	file, err := l.dir.OpenFile(name)
	if err != nil {
		if folder.IsShortage(err) {
			l.stop(project.PlainError(err))
		}
		l.Recheck()
		l.Observed(folder.Observation{Name: name, Stamp: l.dir.Stamp(name)})
		return folder.File{}, project.PlainError(err)
	}
	l.Observed(folder.Observation{Name: name, Stamp: file.Stamp})
	return file, nil
}

// space returns room for n bytes behind what is in use.
func (l *Visit) space(n int) []byte {
	if cap(l.scratch)-len(l.scratch) < n {
		l.scratch = make([]byte, 0, max(n, scratchSize))
	}
	return l.scratch[len(l.scratch) : len(l.scratch)+n]
}

// use keeps text, which begins the space returned last.
func (l *Visit) use(text []byte) []byte {
	l.scratch = l.scratch[:len(l.scratch)+len(text)]
	return text[:len(text):len(text)]
}

// keep copies an item's text to where it stays.
func (l *Visit) keep(text []byte) []byte {
	if cap(l.arena)-len(l.arena) < len(text) {
		size := arenaNext
		if l.arena == nil {
			size = arenaFirst
		}
		l.arena = make([]byte, 0, max(len(text), size))
	}
	start := len(l.arena)
	l.arena = append(l.arena, text...)
	return l.arena[start:len(l.arena):len(l.arena)]
}

// Log leaves a message, once in a directory.
func (l *Visit) Log(level mcp.Level, text string) {
	if m := (item.Message{Level: level, Text: text}); !slices.Contains(l.rec.messages, m) {
		l.rec.messages = append(l.rec.messages, m)
	}
}

// Label names something in the directory for people.
func (l *Visit) Label(name string) string { return path.Join(l.label, l.rec.path, name) }

// Input prepares an item for a file of the directory.
func (l *Visit) Input(file string, sources []item.Source) *item.Input {
	return &item.Input{
		Project: l.Project, Noun: l.spec.Noun, FaultLevel: l.spec.FaultLevel, Content: l.spec.Trees[0].Dir(l.Project), Fields: item.Fields{Sources: sources, Dir: l}, Buffer: l.work,
		Path: path.Join(l.rec.path, file), Label: l.Label(file), IconDirs: []string{l.AbsPath()},
	}
}

// Path returns where the directory lies below the content directory.
func (l *Visit) Path() string { return l.rec.path }

func (l *Visit) AbsPath() string { return filepath.Join(l.content, filepath.FromSlash(l.rec.path)) }

func (l *Visit) Observed(n folder.Observation) { l.rec.observations = append(l.rec.observations, n) }

func (l *Visit) Recheck() { l.rec.unsure = true }

// Add takes an item that was made.
func (l *Visit) Add(f item.Candidate) {
	f.Tree = l.tree
	if f.JSON != nil {
		l.work = f.JSON[:0]
		f.JSON = l.keep(f.JSON)
	}
	l.rec.candidates = append(l.rec.candidates, f)
}
