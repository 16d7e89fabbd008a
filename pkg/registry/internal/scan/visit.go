package scan

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// A Visit is one directory in which a kind looks for items. It records every file that the
// kind looks at. It implements [item.Dir].
type Visit struct {
	Project *project.Project
	s       *scanner

	dir   folder.Dir
	Depth int // levels below the content directory
	rec   *record

	metadata []Metadata // read in this directory
	scratch  []byte     // memory for the files of this directory
	arena    []byte     // memory for the items of all directories
	buffer   []byte     // memory for the item that is being built
	listing  []byte
}

// A Metadata is a metadata file.
type Metadata struct {
	Name string
	item.Source
	Usable bool       // the file is a readable JSON object
	Fault  item.Fault // why the file is not usable; the zero value: it no longer exists
	Paired bool       // the metadata describes a file of the same directory
	Moved  bool       // the metadata describes a file of another directory
}

const (
	scratchSize = 16 << 10
	arenaFirst  = 16 << 10
	arenaNext   = 256 << 10
	listingSize = 32 << 10
)

func newVisit(s *scanner) *Visit {
	return &Visit{Project: s.p, s: s, listing: make([]byte, listingSize)}
}

// Files yields the names of the files other than metadata files.
func (v *Visit) Files(yield func(name string) bool) {
	for _, e := range v.rec.entries {
		if usable(e) && !isMetadata(e) && !yield(e.Name) {
			return
		}
	}
}

func usable(e folder.Entry) bool { return !e.IsDir && !e.Odd && folder.Unusable(e.Name) == "" }

func isMetadata(e folder.Entry) bool {
	return !e.IsDir && !e.Odd && strings.HasSuffix(e.Name, item.MetadataSuffix)
}

// HasFile reports whether the directory contains a regular file with this name.
func (v *Visit) HasFile(name string) bool { return v.has(folder.Entry{Name: name}) }

func (v *Visit) hasDir(name string) bool { return v.has(folder.Entry{Name: name, IsDir: true}) }

func (v *Visit) has(e folder.Entry) bool {
	order := func(e folder.Entry, name string) int { return strings.Compare(e.Name, name) }
	at, found := slices.BinarySearchFunc(v.rec.entries, e.Name, order)
	return found && v.rec.entries[at] == e
}

// HasFileIn reports whether a subdirectory contains a regular file with this name.
func (v *Visit) HasFileIn(dir, name string) bool {
	if !v.hasDir(dir) {
		return false
	}
	below := dir + "/" + name
	s := v.dir.Stamp(below)
	v.Observed(folder.Observation{Name: below, Stamp: s})
	return s.IsFile()
}

// HasMetadata reports whether the directory contains a metadata file.
func (v *Visit) HasMetadata() bool {
	return slices.ContainsFunc(v.rec.entries, isMetadata)
}

// MetadataOf returns the metadata of a file, or nil. The result is valid until the next metadata file is read.
func (v *Visit) MetadataOf(file string) *Metadata {
	for _, name := range item.MetadataNames(file) {
		if v.HasFile(name) {
			if m := v.MetadataFile(name); m.Usable {
				m.Paired = true
				return m
			}
		}
	}
	return nil
}

// Unreadable returns why the metadata files that [Visit.MetadataOf] skips cannot be read.
func (v *Visit) Unreadable(file string) (faults []item.Fault) {
	for _, name := range item.MetadataNames(file) {
		switch {
		case v.hasDir(name), v.has(folder.Entry{Name: name, Odd: true}):
			faults = append(faults, item.Fault{At: item.Place{File: v.Label(name)},
				Reason: "a link or no regular file, which is not read; put the file itself there"})
		case v.HasFile(name):
			m := v.MetadataFile(name)
			if m.Usable {
				return faults
			}
			if m.Fault != (item.Fault{}) {
				faults = append(faults, m.Fault)
			}
		}
	}
	return faults
}

// MetadataFiles yields all usable metadata files.
func (v *Visit) MetadataFiles(yield func(*Metadata) bool) {
	for _, e := range v.rec.entries {
		if usable(e) && isMetadata(e) {
			if m := v.MetadataFile(e.Name); m.Usable && !yield(m) {
				return
			}
		}
	}
}

// MetadataFile returns a metadata file. It reads each file once.
func (v *Visit) MetadataFile(name string) *Metadata {
	for i := range v.metadata {
		if v.metadata[i].Name == name {
			return &v.metadata[i]
		}
	}
	m := Metadata{Name: name}
	text, err := v.read(name, item.MaxMetadata)
	if err == nil {
		object, whole, errJSON := item.ParseMetadata(text)
		if err = errJSON; err == nil {
			m.Source, m.Usable = item.NewSource(item.Location{File: v.Label(name), Text: whole}, object), true
		}
	}
	if err != nil && !folder.Vanished(err) {
		m.Fault = item.FaultIn(v.Label(name), err)
		if !v.s.spec.Guarded { // for guarded kinds, BuildTool reports that the tool does not run
			v.Log(item.Message{
				Level: mcp.Warning, Topic: item.Malformed, At: m.Fault.At, Text: m.Fault.Reason + ", using defaults",
				Logged: fmt.Sprintf("Malformed metadata %s: %s, using defaults", v.Label(name), err),
			})
		}
	}
	v.metadata = append(v.metadata, m)
	return &v.metadata[len(v.metadata)-1]
}

// ItemName returns the default name of an item that only consists of metadata: the stem of
// the file name without the metadata suffix.
func (v *Visit) ItemName(m *Metadata) string {
	name := strings.TrimSuffix(m.Name, item.MetadataSuffix)
	if v.HasFile(name) {
		return item.Stem(name)
	}
	return name
}

// Unpaired returns the input for an item that only consists of metadata, or nil if the
// metadata describes a file. Call it after [Visit.MetadataOf] for all files.
func (v *Visit) Unpaired(m *Metadata) *item.Input {
	if m.Paired {
		return nil
	}
	s := v.Input(m.Name, []item.Source{m.Source})
	s.Path = ""
	return s
}

func (v *Visit) read(name string, limit int) ([]byte, error) {
	file, err := v.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.Stamp.Size > uint64(limit) {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	if v.s.spec.Guarded && file.Exposed {
		v.Recheck()
		if err := v.Project.CheckPath(filepath.Join(v.AbsPath(), name)); err != nil {
			return nil, err
		}
	}
	buf := v.space(int(file.Stamp.Size))
	n, err := file.Read(buf)
	if err != nil {
		v.Recheck()
		return nil, fsys.Cause(err)
	}
	return v.use(buf[:n]), nil
}

// A Head is the beginning of a file.
type Head struct {
	Text   []byte // valid until another file is read
	Mode   fs.FileMode
	Header json.RawMessage // the inline header, or nil
	Fault  item.Fault      // why the inline header cannot be read, or the zero value
}

// Head returns the beginning of a file.
func (v *Visit) Head(name string) (Head, error) {
	file, err := v.open(name)
	if err != nil {
		return Head{Mode: v.rec.observations[len(v.rec.observations)-1].Stamp.Mode}, err
	}
	defer file.Close()
	buf := v.space(item.FirstHead)
	n, err := file.Read(buf)
	head, whole := item.Head(buf[:n])
	if err == nil && !whole && n == item.FirstHead {
		buf = append(v.space(item.MaxHead)[:0], head...)[:item.MaxHead]
		n, err = file.Read(buf[item.FirstHead:])
		head, _ = item.Head(buf[:item.FirstHead+n])
	}
	if err != nil {
		v.Recheck()
		return Head{Mode: file.Stamp.Mode}, fsys.Cause(err)
	}
	h := Head{Text: head, Mode: file.Stamp.Mode}
	if h.Header, err = item.ParseHeader(head); err != nil {
		h.Fault = item.FaultIn(v.Label(name), err)
	} else if h.Header != nil {
		v.use(head)
	}
	return h, nil
}

// open opens a file and records it. Every scan tries again to open a file that cannot be
// opened, because its stamp may not change when it can be opened.
func (v *Visit) open(name string) (folder.File, error) {
	file, err := v.dir.OpenFile(name)
	if err != nil {
		if folder.IsShortage(err) {
			v.s.stop(fsys.Cause(err))
		}
		v.Recheck()
		v.Observed(folder.Observation{Name: name, Stamp: v.dir.Stamp(name)})
		return folder.File{}, fsys.Cause(err)
	}
	v.Observed(folder.Observation{Name: name, Stamp: file.Stamp})
	return file, nil
}

// space returns n free bytes of the scratch memory.
func (v *Visit) space(n int) []byte {
	if cap(v.scratch)-len(v.scratch) < n {
		v.scratch = make([]byte, 0, max(n, scratchSize))
	}
	return v.scratch[len(v.scratch) : len(v.scratch)+n]
}

// use reserves text, which is the beginning of the last result of space.
func (v *Visit) use(text []byte) []byte {
	v.scratch = v.scratch[:len(v.scratch)+len(text)]
	return text[:len(text):len(text)]
}

func (v *Visit) keep(text []byte) []byte {
	if cap(v.arena)-len(v.arena) < len(text) {
		size := arenaNext
		if v.arena == nil {
			size = arenaFirst
		}
		v.arena = make([]byte, 0, max(len(text), size))
	}
	start := len(v.arena)
	v.arena = append(v.arena, text...)
	return v.arena[start:len(v.arena):len(v.arena)]
}

// Log records a message once for each directory.
func (v *Visit) Log(m item.Message) {
	if !slices.Contains(v.rec.messages, m) {
		v.rec.messages = append(v.rec.messages, m)
	}
}

// Label returns the path of a file for messages.
func (v *Visit) Label(name string) string { return path.Join(v.s.label, v.rec.path, name) }

// Input returns the input for the item of a file.
func (v *Visit) Input(file string, sources []item.Source) *item.Input {
	return &item.Input{
		Fields:  item.Fields{Sources: sources, Dir: v},
		Project: v.Project, Noun: v.s.spec.Noun, FaultLevel: v.s.spec.FaultLevel, Content: v.s.spec.Trees[0].Dir(v.Project),
		Path: path.Join(v.rec.path, file), Label: item.Place{File: v.Label(file)}, IconDirs: []string{v.AbsPath()},
		Buffer: v.buffer,
	}
}

// Path returns the path of the directory relative to the content directory.
func (v *Visit) Path() string { return v.rec.path }

// AbsPath returns the path of the directory.
func (v *Visit) AbsPath() string { return filepath.Join(v.s.content, filepath.FromSlash(v.rec.path)) }

// Observed records a file that the items of the directory depend on.
func (v *Visit) Observed(o folder.Observation) { v.rec.observations = append(v.rec.observations, o) }

// Recheck makes the next scan examine the directory again in any case.
func (v *Visit) Recheck() { v.rec.unsure = true }

// Add records an item.
func (v *Visit) Add(c item.Candidate) {
	c.Tree = v.s.at
	if c.JSON != nil {
		v.buffer = c.JSON[:0]
		c.JSON = v.keep(c.JSON)
	}
	v.rec.candidates = append(v.rec.candidates, c)
}

// IsText reports whether the beginning of a file is text.
func (v *Visit) IsText(name string) bool {
	file, err := v.open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	buf := v.space(int(min(file.Stamp.Size, item.MaxHead)))
	n, err := file.Read(buf)
	if err != nil {
		v.Recheck()
		return false
	}
	return media.IsText(media.WholeRunes(buf[:n]))
}
