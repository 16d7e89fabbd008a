package project

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

const helperName = "mcp-jq.exe"

func claim(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// linkHelper makes a hard link, or a copy where the directories lie on
// different volumes.
func linkHelper(exe, link string) error {
	os.Remove(link)
	if os.Link(exe, link) == nil {
		return nil
	}
	from, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(link, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}

// killOrphans has nothing to do: a job object ends with its owner.
func killOrphans(dir string) {}

// isWritable reports whether a directory can be made in another one. Only
// trying tells.
func isWritable(dir string) bool {
	probe, err := os.MkdirTemp(dir, "mcpbash.probe.")
	if err != nil {
		return false
	}
	return os.Remove(probe) == nil
}
