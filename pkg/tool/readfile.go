package tool

import (
	"errors"
	"io"
	"os"
)

var errTooLarge = errors.New("too large")

// readFile reads a regular file of at most max bytes. It never waits, whatever
// was put in the file's place.
func readFile(path string, max int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > int64(max) {
		return nil, errTooLarge
	}
	content, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err == nil && len(content) > max {
		return nil, errTooLarge
	}
	return content, err
}
