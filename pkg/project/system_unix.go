//go:build unix

package project

import (
	"os"

	"golang.org/x/sys/unix"
)

const orphanDefault = "true"

func completeEnv(Env) {}

func systemTmp() string { return "/tmp" }

const helperName = "mcp-jq"

// lock locks a file as long as it stays open, and reports whether it could.
func lock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

func linkHelper(exe string, root *os.Root, link string) error {
	if target, err := root.Readlink(link); err == nil && target == exe {
		return nil
	}
	root.Remove(link)
	return root.Symlink(exe, link)
}

// IsWritable reports whether we can create files in a directory.
func IsWritable(dir string) bool { return checkWritable(dir) == nil }

// checkWritable returns the reason why this process cannot create files in a directory.
func checkWritable(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return unix.ENOTDIR
	}
	return unix.Access(dir, unix.W_OK|unix.X_OK)
}
