// Package fsys compares paths, and finds the causes of errors of file operations.
package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
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

// Physical returns the absolute path without symbolic links.
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
// leads to its target. Follow opens nothing. On Windows, it follows a link to another volume only if anyVolume is true,
// because even a stat of \\host\share contacts that host. ok is false if there are too many links.
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

// About changes the path of an error of a file operation, and returns the error. Callers replace the path of a
// temporary file, which users do not know.
func About(err error, path string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Path = path
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

//lint:file-ignore ST1005 P-2103 fixes the texts of errors

// IsHome reports whether the value of HOME can be a home directory. Containers set "/" for users without one.
func IsHome(path string) bool { return filepath.IsAbs(path) && filepath.Dir(path) != path }

// Named returns the path that a person, a client or a setting names. "~" is replaced by home, which may be "". A file:
// URI names its path. Other URIs, and the homes of other users, are errors. Every other text is the path itself; "./~"
// is a file with the name ~.
func Named(text, home string) (string, error) {
	switch scheme, isURI := schemeOf(text); {
	case strings.EqualFold(scheme, "file") && (isURI || strings.HasPrefix(text[len(scheme)+1:], "/")):
		path, err := PathOfURI(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", text, err)
		}
		return path, nil
	case isURI:
		return "", fmt.Errorf("%s is a URL, not a path", text)
	}
	rest, ok := strings.CutPrefix(text, "~")
	name, _, hasSlash := strings.Cut(filepath.ToSlash(rest), "/")
	switch {
	case !ok || name != "" && !hasSlash:
		return text, nil
	case name != "":
		return "", fmt.Errorf("~%s is not expanded; write the whole path, or ./~%s for a file of that name", name, name)
	case home == "":
		return "", errors.New("~ stands for HOME, which is not set")
	}
	return home + rest, nil
}

// schemeOf returns the scheme before the first colon, or "". isURI reports whether "//" follows it. A single letter is
// a drive of Windows.
func schemeOf(text string) (scheme string, isURI bool) {
	scheme, rest, _ := strings.Cut(text, ":")
	if len(scheme) < 2 || len(scheme) == len(text) {
		return "", false
	}
	for i, c := range []byte(scheme) {
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !isLetter && (i == 0 || strings.IndexByte("0123456789+-.", c) < 0) {
			return "", false
		}
	}
	return scheme, strings.HasPrefix(rest, "//")
}

// SplitNamed splits a list of paths as [filepath.SplitList] does, but keeps file: URIs.
func SplitNamed(list string) (paths []string) {
	for _, item := range filepath.SplitList(list) {
		last := len(paths) - 1
		if strings.HasPrefix(item, "//") && last >= 0 && HasScheme(paths[last]+":") {
			paths[last] += ":" + item
			continue
		}
		paths = append(paths, item)
	}
	return paths
}

// HasScheme reports whether a text begins with the scheme of a URI and a colon.
func HasScheme(text string) bool {
	scheme, _ := schemeOf(text)
	return scheme != ""
}

// Errors of [PathOfURI].
var (
	ErrScheme    = errors.New("Unsupported URI scheme")
	ErrNoPath    = errors.New("Malformed file URI (no path)")
	ErrAuthority = errors.New("Rejecting non-local file URI authority")
	ErrRelative  = errors.New("Rejecting file URI with relative path")
)

// PathOfURI returns the path of a local, absolute file: URI. It decodes escapes once.
func PathOfURI(uri string) (string, error) {
	scheme, rest, found := strings.Cut(uri, ":")
	if !found || !strings.EqualFold(scheme, "file") {
		return "", ErrScheme
	}
	if after, hasAuthority := strings.CutPrefix(rest, "//"); hasAuthority {
		authority, path, hasPath := strings.Cut(after, "/")
		if authority != "" && !strings.EqualFold(authority, "localhost") {
			return "", ErrAuthority
		}
		if !hasPath {
			return "", ErrNoPath
		}
		rest = "/" + path
	}
	if rest == "" {
		return "", ErrNoPath
	}
	path, err := url.PathUnescape(rest)
	if err != nil || strings.ContainsRune(path, 0) {
		return "", ErrNoPath
	}
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	if !filepath.IsAbs(path) {
		return "", ErrRelative
	}
	return path, nil
}

// Homes are home directories: clean paths, as they are written and without links.
type Homes []string

// HomesOf returns the home directories of the user: home, and the one of the account.
func HomesOf(home string) (h Homes) {
	paths := []string{home}
	if account, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		paths = append(paths, account.HomeDir)
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		h = append(h, filepath.Clean(path))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			h = append(h, real)
		}
	}
	slices.Sort(h)
	return slices.Compact(h)
}

// usual are the directories that usually contain home directories. Each directory in them counts as a home directory.
var usual = []string{"/home", "/Users"}

// Hold reports whether a directory is the home directory of any user, or contains one.
func (h Homes) Hold(dir string) bool {
	if slices.Contains(usual, filepath.Dir(dir)) {
		return true
	}
	homes := slices.Concat(h, usual, []string{"/root"})
	return slices.ContainsFunc(homes, func(home string) bool { return Within(dir, home) })
}

// Hide reports whether a directory is a hidden directory in a home directory, such as ~/.ssh.
func (h Homes) Hide(dir string) bool {
	return filepath.Base(dir)[0] == '.' && filepath.Dir(dir) != string(filepath.Separator) && h.Hold(filepath.Dir(dir))
}
