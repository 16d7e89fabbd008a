//go:build !unix

package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Dir is an open directory. What lies in it is reached relative to it,
// and symbolic links are never followed: a name is looked at
// first, and what was opened must be what was seen.
type Dir struct{ root *os.Root }

func Open(path string) (Dir, error) {
	root, err := os.OpenRoot(path)
	return Dir{root}, err
}

func (f Dir) Open(name string) (Dir, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return Dir{}, err
	}
	if !seen.IsDir() {
		return Dir{}, errNotRegular
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return Dir{}, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(seen, opened) {
		root.Close()
		return Dir{}, errNotRegular
	}
	return Dir{root}, nil
}

func (f Dir) Close() { f.root.Close() }

func (f Dir) List([]byte) ([]Entry, error) {
	dir, err := f.root.Open(".")
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

func (f Dir) Stamp(name string) Stamp {
	info, err := f.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return Stamp{}
	}
	return stampOf(info)
}

// A File is an open file.
type File struct {
	file    *os.File
	Stamp   Stamp
	Exposed bool // others may have written it: never known here
}

func (f Dir) OpenFile(name string) (File, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if !seen.Mode().IsRegular() {
		return File{}, errNotRegular
	}
	file, err := f.root.Open(name)
	if err != nil {
		return File{}, err
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(seen, opened) {
		file.Close()
		return File{}, errNotRegular
	}
	return File{file: file, Stamp: stampOf(seen)}, nil
}

func (c File) Close() { c.file.Close() }

// Read reads on until the buffer is full or the file at its end.
func (c File) Read(buf []byte) (int, error) {
	n, err := io.ReadFull(c.file, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// stampOf knows no inode and no time of change, which Windows does not give
// away so cheaply.
func stampOf(info fs.FileInfo) Stamp {
	mode := info.Mode().Perm()
	switch {
	case info.IsDir():
		mode |= fs.ModeDir
	case !info.Mode().IsRegular():
		mode |= fs.ModeIrregular
	}
	return Stamp{Size: uint64(info.Size()), Mode: mode, Mtime: info.ModTime().UnixNano()}
}

func StampOfFile(f *os.File) Stamp {
	info, err := f.Stat()
	if err != nil {
		return Stamp{}
	}
	return stampOf(info)
}

func StampOfPath(path string) Stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}
	}
	return stampOf(info)
}

func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func IsShortage(error) bool { return false }
