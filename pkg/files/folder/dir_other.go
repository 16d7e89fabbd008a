//go:build !unix

package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Dir is an open directory. It never follows symbolic links in it: it checks each name first, and the opened file
// must be the one that was checked.
type Dir struct{ root *os.Root }

// Open opens a directory by its path, which may be a symbolic link.
func Open(path string) (Dir, error) {
	root, err := os.OpenRoot(path)
	return Dir{root}, err
}

// Open opens a directory in this one.
func (d Dir) Open(name string) (Dir, error) {
	seen, err := d.root.Lstat(name)
	if err != nil {
		return Dir{}, err
	}
	if !seen.IsDir() {
		return Dir{}, errNotRegular
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return Dir{}, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(seen, opened) {
		root.Close()
		return Dir{}, errNotRegular
	}
	return Dir{root}, nil
}

// Close closes the directory.
func (d Dir) Close() { d.root.Close() }

// List returns the entries of the directory, sorted.
func (d Dir) List([]byte) ([]Entry, error) {
	dir, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	return entriesOf(found), nil
}

// Stamp returns the stamp of a path below the directory. It follows symbolic links in all names but the last. So
// callers go at most one level down, into a directory that they have seen.
func (d Dir) Stamp(name string) Stamp {
	return stampOf(d.root.Lstat(filepath.FromSlash(name)))
}

// A File is an open regular file.
type File struct {
	file    *os.File
	Stamp   Stamp
	Exposed bool // other users may have written it; always false, because this is unknown here
}

// OpenFile opens a regular file in the directory. It follows no link and never blocks.
func (d Dir) OpenFile(name string) (File, error) {
	seen, err := d.root.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if !seen.Mode().IsRegular() {
		return File{}, errNotRegular
	}
	file, err := d.root.Open(name)
	if err != nil {
		return File{}, err
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(seen, opened) {
		file.Close()
		return File{}, errNotRegular
	}
	return File{file: file, Stamp: stampOf(seen, nil)}, nil
}

// Close closes the file.
func (f File) Close() { f.file.Close() }

// Read reads until the buffer is full or the file is at its end.
func (f File) Read(buf []byte) (int, error) {
	n, err := io.ReadFull(f.file, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// stampOf leaves the inode and the time of change out, because Windows needs another call for them.
func stampOf(info fs.FileInfo, err error) Stamp {
	if err != nil {
		return Stamp{}
	}
	mode := info.Mode().Perm()
	switch {
	case info.IsDir():
		mode |= fs.ModeDir
	case !info.Mode().IsRegular():
		mode |= fs.ModeIrregular
	}
	return Stamp{Size: uint64(info.Size()), Mode: mode, Mtime: info.ModTime().UnixNano()}
}

// StampOfFile returns the stamp of a file that package os opened.
func StampOfFile(f *os.File) Stamp { return stampOf(f.Stat()) }

// StampOfPath returns the stamp of a path, without following its last link.
func StampOfPath(path string) Stamp { return stampOf(os.Lstat(path)) }

// StampOfTarget returns the stamp of a path, with all links followed.
func StampOfTarget(path string) Stamp { return stampOf(os.Stat(path)) }

// Missing reports whether an error means that the name does not exist, or is a symbolic link.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// IsShortage reports whether an error means that this process lacks memory or descriptors. A file that cannot be
// opened for that reason does not count as missing.
func IsShortage(error) bool { return false }
