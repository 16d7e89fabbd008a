package handoff

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
)

// Create creates a file with mode 0600 below a directory that scripts can write to. The file
// must not exist yet.
func Create(dir *os.Root, name string, content []byte) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|nonblock, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// OpenAppend opens a regular file for appending, below a directory that scripts can write
// to. It creates a missing file with mode 0600.
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

// OpenDir opens a directory. Unlike [os.OpenRoot], it never waits for a pipe in the
// directory's place.
func OpenDir(path string) (*os.Root, error) { return os.OpenRoot(path + thisDir) }

// thisDir at the end of a path makes the system look for a directory.
const thisDir = string(os.PathSeparator) + "."

// Put is [Create] for a file that appears atomically with its content. It replaces any file
// with that name.
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

// aside is the prefix of files that must not be visible yet.
const aside = ".put-"

// Unique returns an unpredictable file name with a prefix.
func Unique(prefix string) string {
	var tag [8]byte
	rand.Read(tag[:]) // never fails
	return prefix + hex.EncodeToString(tag[:])
}
