// Package swap exchanges the names of two files or directories.
package swap

import (
	"errors"
	"io/fs"
	"os"
)

// ErrUnsupported is the error on systems and file systems that cannot exchange two names.
var ErrUnsupported = errors.New("this file system cannot exchange two names in one step")

// Exchange exchanges two paths of one file system in one step. At any moment, both paths are complete files or
// directories.
func Exchange(a, b string) error { return exchange(nil, a, b) }

// ExchangeIn is [Exchange] for two names in a directory.
func ExchangeIn(dir *os.File, a, b string) error { return exchange(dir, a, b) }

// Replace replaces the directory live, which may be missing, by the directory fresh. It
// returns the new name of the old directory, or "" if live was missing. The new name is
// fresh if two names can be exchanged, and otherwise aside, in two steps. After an error,
// live is unchanged.
func Replace(live, fresh, aside string) (old string, err error) {
	err = Exchange(live, fresh)
	switch {
	case err == nil:
		return fresh, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", os.Rename(fresh, live)
	case !errors.Is(err, ErrUnsupported):
		return "", err
	}
	return twoSteps(live, fresh, aside)
}

func twoSteps(live, fresh, aside string) (old string, err error) {
	switch err := os.Rename(live, aside); {
	case errors.Is(err, fs.ErrNotExist):
		return "", os.Rename(fresh, live)
	case err != nil:
		return "", err
	}
	if err := os.Rename(fresh, live); err != nil {
		return "", errors.Join(err, os.Rename(aside, live))
	}
	return aside, nil
}
