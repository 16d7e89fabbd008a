package registry

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
)

// A look is one directory as the discovery of a kind sees it. Whatever it is
// asked about is noted in the directory's record, so that a kind need not know
// that its answer will be used again.
type look struct {
	p       *project.Project
	spec    spec
	tree    int    // which of the kind's trees it lies in
	content string // the content directory, absolute
	label   string // the same for messages, relative to the project where it lies in it
	stop    func(error)

	dir   folder
	depth int // levels below the content directory
	rec   *record

	metas   []metaFile // read in this directory
	scratch []byte     // holds the files of this directory
	arena   []byte     // holds the items of all directories
	work    []byte     // an item is written here first
	listing []byte
}

type metaFile struct {
	name string
	source
	usable bool
	paired bool // it belongs to a file beside it
	moved  bool // it speaks of a file elsewhere
}

const (
	scratchSize = 16 << 10
	arenaFirst  = 16 << 10
	arenaNext   = 256 << 10
	listingSize = 32 << 10
)

func newLook(s *scanner) *look {
	return &look{p: s.p, spec: s.spec, tree: s.at, content: s.content, label: s.label, stop: s.stop, listing: make([]byte, listingSize)}
}

// at turns to another directory.
func (l *look) at(dir folder, depth int, rec *record) {
	l.dir, l.depth, l.rec = dir, depth, rec
	l.metas, l.scratch = l.metas[:0], l.scratch[:0]
}

// files yields the names of the files that are no metadata files.
func (l *look) files(yield func(name string) bool) {
	for _, e := range l.rec.entries {
		if !e.isDir && oddity(e.name) == "" && !strings.HasSuffix(e.name, metaSuffix) && !yield(e.name) {
			return
		}
	}
}

// hasFile reports whether there is a regular file of a name in the directory.
func (l *look) hasFile(name string) bool { return l.has(entry{name, false}) }

// hasDir reports whether there is a directory of a name in the directory.
func (l *look) hasDir(name string) bool { return l.has(entry{name, true}) }

func (l *look) has(e entry) bool {
	at, found := slices.BinarySearchFunc(l.rec.entries, e.name, func(e entry, name string) int { return strings.Compare(e.name, name) })
	return found && l.rec.entries[at] == e
}

// isFile reports whether there is a regular file of a name in a directory in
// this one.
func (l *look) isFile(dir, name string) bool {
	if !l.hasDir(dir) {
		return false
	}
	below := dir + "/" + name
	s := l.dir.stamp(below)
	l.noted(note{name: below, stamp: s})
	return s.isFile()
}

// hasMetadata reports whether there is a metadata file in the directory.
func (l *look) hasMetadata() bool {
	return slices.ContainsFunc(l.rec.entries, func(e entry) bool { return !e.isDir && strings.HasSuffix(e.name, metaSuffix) })
}

// modeOf returns the mode of a file of the directory.
func (l *look) modeOf(file string) fs.FileMode {
	s := l.dir.stamp(file)
	l.noted(note{name: file, stamp: s})
	return s.mode
}

// metadata returns what a file's metadata file says, nil when it has none
// . It stands until another one is read.
func (l *look) metadata(file string) *metaFile {
	for _, name := range metaNames(file) {
		if name != "" && l.hasFile(name) {
			if m := l.metaFile(name); m.usable {
				m.paired = true
				return m
			}
		}
	}
	return nil
}

// metaFiles yields all metadata files that can be used.
func (l *look) metaFiles(yield func(*metaFile) bool) {
	for _, e := range l.rec.entries {
		if !e.isDir && oddity(e.name) == "" && strings.HasSuffix(e.name, metaSuffix) {
			if m := l.metaFile(e.name); m.usable && !yield(m) {
				return
			}
		}
	}
}

// metaFile reads a metadata file, once in a directory.
func (l *look) metaFile(name string) *metaFile {
	for i := range l.metas {
		if l.metas[i].name == name {
			return &l.metas[i]
		}
	}
	m := metaFile{name: name}
	text, err := l.read(name, metaMax)
	if err == nil {
		object, whole, errJSON := parseMetadata(text)
		if err = errJSON; err == nil {
			m.source, m.usable = newSource(writing{file: l.shown(name), text: whole}, object), true
		}
	}
	if err != nil && !vanished(err) {
		l.say(mcp.Warning, fmt.Sprintf("Malformed metadata %s: %s, using defaults", l.shown(name), err))
	}
	l.metas = append(l.metas, m)
	return &l.metas[len(l.metas)-1]
}

// nameOf is what an item is called after its metadata file: as it would be
// after the file that it belongs to.
func (l *look) nameOf(m *metaFile) string {
	name := strings.TrimSuffix(m.name, metaSuffix)
	if l.hasFile(name) {
		return stem(name)
	}
	return name
}

// unpaired prepares an item for metadata that belongs to no file; nil when it
// does. All files of the directory were asked for theirs before.
func (l *look) unpaired(m *metaFile) *subject {
	if m.paired {
		return nil
	}
	s := l.subject(m.name, []source{m.source})
	s.path = ""
	return s
}

// read returns a file whole.
func (l *look) read(name string, limit int) ([]byte, error) {
	file, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer file.close()
	if file.stamp.size > uint64(limit) {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	if l.spec.guarded && file.exposed {
		l.doubt()
		if err := l.p.CheckPath(filepath.Join(l.absolute(), name)); err != nil {
			return nil, err
		}
	}
	buf := l.space(int(file.stamp.size))
	n, err := file.read(buf)
	if err != nil {
		l.doubt()
		return nil, project.PlainError(err)
	}
	return l.use(buf[:n]), nil
}

// intro returns how a file begins, its mode, and its inline header if it has
// one. The beginning stands only until another file is read.
func (l *look) intro(name string) (head []byte, mode fs.FileMode, header json.RawMessage, err error) {
	file, err := l.open(name)
	if err != nil {
		return nil, l.rec.notes[len(l.rec.notes)-1].stamp.mode, nil, err
	}
	defer file.close()
	buf := l.space(headFirst)
	n, err := file.read(buf)
	head, whole := headOf(buf[:n])
	if err == nil && !whole && n == headFirst {
		buf = append(l.space(headMax)[:0], head...)[:headMax]
		n, err = file.read(buf[headFirst:])
		head, _ = headOf(buf[:headFirst+n])
	}
	if err != nil {
		l.doubt()
		return nil, file.stamp.mode, nil, project.PlainError(err)
	}
	if header = parseHeader(head); header != nil {
		l.use(head)
	}
	return head, file.stamp.mode, header, nil
}

// open opens a file and notes it. What cannot be opened is looked at again
// each time: nothing tells when that changes.
func (l *look) open(name string) (content, error) {
	file, err := l.dir.openFile(name)
	if err != nil {
		if isShortage(err) {
			l.stop(project.PlainError(err))
		}
		l.doubt()
		l.noted(note{name: name, stamp: l.dir.stamp(name)})
		return content{}, project.PlainError(err)
	}
	l.noted(note{name: name, stamp: file.stamp})
	return file, nil
}

// space returns room for n bytes behind what is in use.
func (l *look) space(n int) []byte {
	if cap(l.scratch)-len(l.scratch) < n {
		l.scratch = make([]byte, 0, max(n, scratchSize))
	}
	return l.scratch[len(l.scratch) : len(l.scratch)+n]
}

// use keeps text, which begins the space returned last.
func (l *look) use(text []byte) []byte {
	l.scratch = l.scratch[:len(l.scratch)+len(text)]
	return text[:len(text):len(text)]
}

// keep copies an item's text to where it stays.
func (l *look) keep(text []byte) []byte {
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

// say leaves a message, once in a directory.
func (l *look) say(level mcp.Level, text string) {
	if m := (message{level, text}); !slices.Contains(l.rec.said, m) {
		l.rec.said = append(l.rec.said, m)
	}
}

// shown names something in the directory for people.
func (l *look) shown(name string) string { return path.Join(l.label, l.rec.path, name) }

// subject prepares an item for a file of the directory.
func (l *look) subject(file string, sources []source) *subject {
	return &subject{
		project: l.p, noun: l.spec.noun, faults: l.spec.faults, content: l.spec.trees[0].dir(l.p), fields: fields{sources: sources, place: l}, work: l.work,
		path: path.Join(l.rec.path, file), shown: l.shown(file), iconDirs: []string{l.absolute()},
	}
}

// path returns where the directory lies below the content directory.
func (l *look) path() string { return l.rec.path }

func (l *look) absolute() string { return filepath.Join(l.content, filepath.FromSlash(l.rec.path)) }

func (l *look) noted(n note) { l.rec.notes = append(l.rec.notes, n) }

func (l *look) doubt() { l.rec.unsure = true }

// add takes an item that was made.
func (l *look) add(f found) {
	f.tree = l.tree
	if f.JSON != nil {
		l.work = f.JSON[:0]
		f.JSON = l.keep(f.JSON)
	}
	l.rec.found = append(l.rec.found, f)
}
