package registry

import (
	"errors"
	"path/filepath"
)

var errTooLarge = errors.New("too large")

// readPlain reads a regular file, whatever else may stand in its place, that
// is no link. The error may be errTooLarge.
func readPlain(file string, limit int) ([]byte, stamp, error) {
	dir, err := openFolder(filepath.Dir(file))
	if err != nil {
		return nil, stamp{}, err
	}
	defer dir.close()
	c, err := dir.openFile(filepath.Base(file))
	if err != nil {
		return nil, stamp{}, err
	}
	defer c.close()
	if c.stamp.size > uint64(limit) {
		return nil, c.stamp, errTooLarge
	}
	text := make([]byte, c.stamp.size)
	n, err := c.read(text)
	return text[:n], c.stamp, err
}
