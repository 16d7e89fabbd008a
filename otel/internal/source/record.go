package source

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
)

// A Position is the end of the last line that was read of a record.
type Position struct {
	File   string `json:"file"`   // the hash of the beginning of the file, which rotation does not change
	Offset int64  `json:"offset"` // in the file
	Seq    int64  `json:"seq"`    // the number that the next line should have
	Head   string `json:"head"`   // the hash of the last line
}

// A record has the files that one server wrote: the ended ones, and the current one.
type record struct {
	path     string // of the current file
	position Position
	seen     os.FileInfo // the current file, when it was read to its end
	report   Report
	counts   *Counts
	warned   bool // of lines that do not belong to a record
}

// gone reports whether the record has no file.
func (r *record) gone() bool {
	names, err := r.names()
	return err == nil && len(names) == 1 && !exists(r.path)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// names returns the paths of the ended files in order, and then of the current one.
func (r *record) names() ([]string, error) {
	folder := filepath.Dir(r.path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	names, _ := events.Ended(filepath.Base(r.path), entries)
	for i, name := range names {
		names[i] = filepath.Join(folder, name)
	}
	return append(names, r.path), nil
}

// beginning is the number of bytes that identify a file, or fewer if its first line is shorter. They contain a time
// and a random number.
const beginning = 4096

// identify returns the identity of a file, or "" if its first line is not complete.
func identify(f *os.File) (string, error) {
	var head [beginning]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	end := bytes.IndexByte(head[:n], '\n')
	switch {
	case end >= 0:
		n = end
	case n < beginning:
		return "", nil
	}
	return events.HashOf(head[:n]).String(), nil
}

// open opens a file and identifies it.
func open(path string) (f *os.File, id string, err error) {
	if f, err = boundedfile.Open(path); err != nil {
		return nil, "", &fs.PathError{Op: "open", Path: path, Err: fsys.Cause(err)}
	}
	if id, err = identify(f); err != nil {
		f.Close()
		return nil, "", err
	}
	return f, id, nil
}

// An openFile is an open file of a record.
type openFile struct {
	f    *os.File
	id   string
	next string // the identity of the file after it, or ""
}

// locate opens the file that contains the position, or else the oldest file. It looks again if the server began one
// meanwhile, because then the names stand for other files.
func (r *record) locate() (p openFile, err error) {
	for {
		names, err := r.names()
		if err != nil {
			return p, err
		}
		p, err = r.find(names)
		after, errNames := r.names()
		switch {
		case errNames == nil && slices.Equal(names, after) && err == nil:
			return p, nil
		case errNames == nil && !slices.Equal(names, after):
			p.close()
			continue
		}
		p.close()
		return p, errors.Join(err, errNames)
	}
}

// find opens the file of the position, or else the oldest one. It tries the newest one first.
func (r *record) find(names []string) (p openFile, err error) {
	for _, name := range slices.Backward(names) {
		next := p.id
		p.close()
		p.f, p.id, err = open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // between two files, or removed
			p = openFile{id: next}
		case err != nil:
			return p, err
		default:
			p.next = next
		}
		if p.f != nil && p.id != "" && p.id == r.position.File {
			return p, nil
		}
	}
	if p.f == nil {
		return p, fs.ErrNotExist
	}
	return p, nil
}

func (p openFile) close() {
	if p.f != nil {
		p.f.Close()
	}
}

// errEnough ends the reading of a file.
var errEnough = errors.New("the budget is spent")

// read returns the next lines, file after file.
func (r *record) read(b *Budget) (lines []*trail.Entry, err error) {
	info, err := os.Stat(r.path)
	if err == nil && r.seen != nil && os.SameFile(info, r.seen) && info.Size() == r.seen.Size() &&
		info.ModTime().Equal(r.seen.ModTime()) {
		return nil, nil
	}
	r.seen = nil
	for !b.Empty() {
		p, err := r.locate()
		if err != nil {
			return lines, err
		}
		read, at, err := r.readFile(p, b)
		p.close()
		lines = append(lines, read...)
		switch {
		case err != nil || at == nil:
			return lines, err
		case p.next == "":
			r.seen = at
			return lines, nil
		}
		r.position.File, r.position.Offset = p.next, 0
	}
	return lines, nil
}

// readFile reads a file from the position. If it reaches the end of the whole lines, at is the state of the file before
// the read.
func (r *record) readFile(p openFile, b *Budget) (lines []*trail.Entry, at os.FileInfo, err error) {
	info, err := p.f.Stat()
	if err != nil || p.id == "" {
		return nil, info, err
	}
	if p.id != r.position.File { // the first read, or the file of the position is gone
		r.position.File, r.position.Offset = p.id, 0
	}
	if info.Size() < r.position.Offset {
		r.report("%s: the file is shorter than what was read of it", r.path)
		r.position.Offset = info.Size()
	}
	rest := io.NewSectionReader(p.f, r.position.Offset, info.Size()-r.position.Offset)
	err = trail.Read(rest, func(e *trail.Entry) error {
		switch {
		case b.Empty():
			return errEnough
		case e.Broken == trail.ErrTorn:
			return nil
		}
		r.position.Offset += e.Size
		b.spend(e)
		if e.Broken != nil {
			r.skipped(e)
			return nil
		}
		r.follow(e)
		lines = append(lines, e)
		return nil
	})
	if err == errEnough {
		return lines, nil, nil
	}
	return lines, info, err
}

func (r *record) skipped(e *trail.Entry) {
	r.counts.Skipped++
	if !r.warned {
		r.warned = true
		r.report("%s: %v; such lines are skipped", r.path, e.Broken)
	}
}

// follow checks that a line follows the one before it.
func (r *record) follow(e *trail.Entry) {
	link := e.Link
	switch {
	case r.position.Head == "":
	case link.Seq > r.position.Seq:
		missing := link.Seq - r.position.Seq
		r.counts.Dropped += missing
		r.report("%s: %d lines from number %d on were removed before they were read", r.path, missing, r.position.Seq)
	case link.Seq < r.position.Seq:
		r.report("%s: another record begins", r.path)
	case link.Prev.String() != r.position.Head:
		r.report("%s: line number %d does not follow the line before it; check with mcp-bash audit --verify", r.path,
			link.Seq)
	}
	r.position.Seq, r.position.Head = link.Seq+1, e.Hash.String()
}

// skip moves the position to the end of the record.
func (r *record) skip() error {
	r.position = Position{}
	for {
		p, err := r.locate() // the oldest file
		if err != nil || p.id == "" {
			p.close()
			return err
		}
		info, err := p.f.Stat()
		p.close()
		if err != nil {
			return err
		}
		r.position = Position{File: p.id, Offset: info.Size()}
		if p.next == "" {
			return nil
		}
		r.position.File = p.next
	}
}
