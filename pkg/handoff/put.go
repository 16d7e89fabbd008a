package handoff

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
)

// Create makes a file that is not there yet, mode 0600, below a directory that
// scripts can write to.
func Create(dir *os.Root, name string, content []byte) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// OpenAppend opens a regular file to append to, mode 0600, below a directory that
// scripts can write to. It is made when it is missing.
func OpenAppend(dir *os.Root, name string) (*os.File, error) {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, fmt.Errorf("%s is not a regular file", file.Name())
	}
	return file, nil
}

// OpenDir opens a directory; unlike [os.OpenRoot], it never waits for a pipe
// that was put in its place.
func OpenDir(path string) (*os.Root, error) { return os.OpenRoot(path + thisDir) }

// openDirIn is [OpenDir] below another directory.
func openDirIn(dir *os.Root, name string) (*os.Root, error) { return dir.OpenRoot(name + thisDir) }

// thisDir at the end of a path has the system look for a directory.
const thisDir = string(os.PathSeparator) + "."

// Put is [Create] for a file that appears with its whole content, in place of
// whatever is there under that name.
func Put(dir *os.Root, name string, content []byte) error {
	hidden := Unique(aside)
	err := Create(dir, hidden, content)
	if err == nil {
		err = dir.Rename(hidden, name)
	}
	if err != nil {
		dir.Remove(hidden)
	}
	return err
}

// aside is how the names begin of files that are not to be seen yet.
const aside = ".put-"

// Unique returns a file name that begins with a prefix and cannot be guessed.
func Unique(prefix string) string {
	var tag [8]byte
	rand.Read(tag[:]) // never fails
	return prefix + hex.EncodeToString(tag[:])
}
