package fsys

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
)

// Homes are home directories: clean paths, as they are written and without links.
type Homes []string

// HomesOf returns the home directories of the user: that of the environment, and that of the account.
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

// usual are directories with the home directories of users. A directory in one is taken for a home directory.
var usual = []string{"/home", "/Users"}

// Hold reports whether a directory is a home directory, also of another user, or contains one.
func (h Homes) Hold(dir string) bool {
	if slices.Contains(usual, filepath.Dir(dir)) {
		return true
	}
	homes := slices.Concat(h, usual, []string{"/root"})
	return slices.ContainsFunc(homes, func(home string) bool { return Within(dir, home) })
}

// Hide reports whether a directory is a hidden one of a home directory, such as ~/.ssh.
func (h Homes) Hide(dir string) bool {
	return filepath.Base(dir)[0] == '.' && filepath.Dir(dir) != string(filepath.Separator) && h.Hold(filepath.Dir(dir))
}
