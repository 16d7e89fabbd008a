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
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, separator))
	return path == dir || ok && strings.HasPrefix(rest, separator)
}

// Physical returns a path absolute and without symbolic links.
func Physical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// maxLinks is the maximum number of links on a path, as on Linux.
const maxLinks = 40

// Follow returns a path with its symbolic links followed. Parts that do not exist stay as written, so a dangling link
// leads to its target. Follow opens nothing. A link to another volume of Windows is followed only if anyVolume is
// true: even a look at \\host\share contacts that host. ok is false for too many links.
func Follow(path string, anyVolume bool) (resolved string, ok bool) {
	volume := filepath.VolumeName(path)
	done, rest := volume+separator, strings.TrimPrefix(path[len(volume):], separator)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, separator)
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		target, err := os.Readlink(next)
		if err != nil { // not a link, missing, or not accessible
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", false
		}
		if rest != "" {
			target += separator + rest
		}
		if filepath.IsAbs(target) {
			at := filepath.VolumeName(target)
			if at != volume && !anyVolume {
				return target, true
			}
			volume = at
			done, target = volume+separator, target[len(volume):]
		}
		rest = strings.TrimPrefix(target, separator)
	}
	return done, true
}

// Same reports whether two paths are the same file.
func Same(a, b string) bool {
	one, err := os.Stat(a)
	other, errOther := os.Stat(b)
	return err == nil && errOther == nil && os.SameFile(one, other)
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
