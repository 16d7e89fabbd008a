//go:build !unix

package registry

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A folder is an open directory. What lies in it is reached relative to it,
// and symbolic links are never followed: a name is looked at
// first, and what was opened must be what was seen.
type folder struct{ root *os.Root }

func openFolder(path string) (folder, error) {
	root, err := os.OpenRoot(path)
	return folder{root}, err
}

func (f folder) open(name string) (folder, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return folder{}, err
	}
	if !seen.IsDir() {
		return folder{}, errNotRegular
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return folder{}, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(seen, opened) {
		root.Close()
		return folder{}, errNotRegular
	}
	return folder{root}, nil
}

func (f folder) close() { f.root.Close() }

func (f folder) listing([]byte) ([]entry, error) {
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

func (f folder) stamp(name string) stamp {
	info, err := f.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

// A content is an open file.
type content struct {
	file    *os.File
	stamp   stamp
	exposed bool // others may have written it: never known here
}

func (f folder) openFile(name string) (content, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return content{}, err
	}
	if !seen.Mode().IsRegular() {
		return content{}, errNotRegular
	}
	file, err := f.root.Open(name)
	if err != nil {
		return content{}, err
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(seen, opened) {
		file.Close()
		return content{}, errNotRegular
	}
	return content{file: file, stamp: stampOf(seen)}, nil
}

func (c content) close() { c.file.Close() }

// read reads on until the buffer is full or the file at its end.
func (c content) read(buf []byte) (int, error) {
	n, err := io.ReadFull(c.file, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// stampOf knows no inode and no time of change, which Windows does not give
// away so cheaply.
func stampOf(info fs.FileInfo) stamp {
	mode := info.Mode().Perm()
	switch {
	case info.IsDir():
		mode |= fs.ModeDir
	case !info.Mode().IsRegular():
		mode |= fs.ModeIrregular
	}
	return stamp{size: uint64(info.Size()), mode: mode, mtime: info.ModTime().UnixNano()}
}

func stampOfFile(f *os.File) stamp {
	info, err := f.Stat()
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

func stampOfPath(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isShortage(error) bool { return false }
