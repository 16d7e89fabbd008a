//go:build unix

package project

import (
	"os"

	"golang.org/x/sys/unix"
)

const helperName = "mcp-jq"

// claim locks a file as long as it stays open; the error says that somebody
// else has it.
func claim(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func linkHelper(exe, link string) error {
	if target, err := os.Readlink(link); err == nil && target == exe {
		return nil
	}
	os.Remove(link)
	return os.Symlink(exe, link)
}

// isWritable reports whether a directory can be made in another one.
func isWritable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && unix.Access(dir, unix.W_OK|unix.X_OK) == nil
}
