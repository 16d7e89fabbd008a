// Package fsys compares paths, and finds the causes of errors of file operations.
package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

const separator = string(filepath.Separator)

// Within reports whether a clean path is dir or below it.
func Within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}

// Physical returns a path absolute and without symbolic links.
func Physical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Cause returns the cause of an error of a file operation, without the operation and the path.
func Cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// Escapes reports whether an [os.Root] rejected a path because it leads out of the root.
func Escapes(err error) bool {
	return errors.Is(err, errEscapes())
}

// errEscapes returns the error of package os, which does not export it.
var errEscapes = sync.OnceValue(func() error {
	_, err := os.OpenInRoot(separator, "..")
	return Cause(err)
})
