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

func linkHelper(exe string, root *os.Root, link string) error {
	if target, err := root.Readlink(link); err == nil && target == exe {
		return nil
	}
	root.Remove(link)
	return root.Symlink(exe, link)
}

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
