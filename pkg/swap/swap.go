// Package swap puts one file or directory into the place of another.
package swap

import (
	"errors"
	"io/fs"
	"os"
)

// ErrUnsupported is returned where the system, or the file system, cannot exchange
// two names.
var ErrUnsupported = errors.New("two names cannot be exchanged in one step here")

// Exchange has two paths of one file system name each other's files, in one step:
// whoever looks meanwhile finds something whole under either (CLI-1710).
func Exchange(a, b string) error { return exchange(nil, a, b) }

// ExchangeIn is [Exchange] for two names in a directory.
func ExchangeIn(dir *os.File, a, b string) error { return exchange(dir, a, b) }

// Replace puts the directory fresh into the place of live, where nothing need be. What was
// there it gives another name, which it returns, "" for nothing: fresh where two names can
// be exchanged, else aside, in two steps. What fails leaves live as it was.
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
