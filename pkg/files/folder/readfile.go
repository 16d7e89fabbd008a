package folder

import (
	"errors"
	"path/filepath"
)

// ErrTooLarge is the error for a file above the limit.
var ErrTooLarge = errors.New("too large")

// ReadFile reads a regular file of at most limit bytes. It follows no link and never blocks. The error may be
// [ErrTooLarge].
func ReadFile(file string, limit int) ([]byte, Stamp, error) {
	dir, err := Open(filepath.Dir(file))
	if err != nil {
		return nil, Stamp{}, err
	}
	defer dir.Close()
	f, err := dir.OpenFile(filepath.Base(file))
	if err != nil {
		return nil, Stamp{}, err
	}
	defer f.Close()
	if f.Stamp.Size > uint64(limit) {
		return nil, f.Stamp, ErrTooLarge
	}
	text := make([]byte, f.Stamp.Size)
	n, err := f.Read(text)
	return text[:n], f.Stamp, err
}
