package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenRegular opens a file for reading unless it is something that could make
// the reader wait, or no file at all.
func OpenRegular(dir *os.Root, name string) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.New("not a regular file")
	}
	return f, nil
}

// Escapes reports whether a path was refused by its [os.Root] for leading out.
func Escapes(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Err.Error() == "path escapes from parent"
}

// FileURI is the URI of a path: every byte escaped but
// those that need not be (tools T-232, registry R-52).
func FileURI(path string) string {
	const hex = "0123456789ABCDEF"
	uri := []byte("file://")
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/dir
		uri = append(uri, '/')
	}
	for _, c := range []byte(path) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte(".~_-/:", c) >= 0 {
			uri = append(uri, c)
		} else {
			uri = append(uri, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(uri)
}
