package folder

import (
	"errors"
	"path/filepath"
)

var ErrTooLarge = errors.New("too large")

// ReadFile reads a regular file, whatever else may stand in its place, that
// is no link. The error may be errTooLarge.
func ReadFile(file string, limit int) ([]byte, Stamp, error) {
	dir, err := Open(filepath.Dir(file))
	if err != nil {
		return nil, Stamp{}, err
	}
	defer dir.Close()
	c, err := dir.OpenFile(filepath.Base(file))
	if err != nil {
		return nil, Stamp{}, err
	}
	defer c.Close()
	if c.Stamp.Size > uint64(limit) {
		return nil, c.Stamp, ErrTooLarge
	}
	text := make([]byte, c.Stamp.Size)
	n, err := c.Read(text)
	return text[:n], c.Stamp, err
}
