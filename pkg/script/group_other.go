//go:build unix && !linux

package script

import "golang.org/x/sys/unix"

// groupAlive reports whether anything is left of a process group.
func groupAlive(pgid int) bool { return unix.Kill(-pgid, 0) == nil }
