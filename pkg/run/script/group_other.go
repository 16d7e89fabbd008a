//go:build unix && !linux

package script

import "golang.org/x/sys/unix"

// groupThere reports whether a process group has members that can be signalled. macOS answers EPERM for
// a group of dead processes.
func groupThere(pgid int) bool { return unix.Kill(-pgid, 0) == nil }

// youngGroupAlive is groupAlive for the group of a script that was started a moment ago.
func youngGroupAlive(pgid int) bool { return groupAlive(pgid) }

// groupAlive reports whether anything of a process group still runs.
func groupAlive(pgid int) bool { return groupThere(pgid) }
