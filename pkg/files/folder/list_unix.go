//go:build unix && !linux

package folder

import (
	"os"

	"golang.org/x/sys/unix"
)

// List returns the entries of the directory, sorted.
func (d Dir) List([]byte) ([]Entry, error) {
	fd, err := openat(d.fd, ".", unix.O_DIRECTORY) // package os closes this descriptor
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), ".")
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	return entriesOf(found), nil
}
