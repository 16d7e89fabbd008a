//go:build unix && !linux

package script

import "golang.org/x/sys/unix"

// groupExists reports whether a process group has members that can be signalled. macOS returns
// EPERM for a group of zombies.
func groupExists(pgid int) bool { return unix.Kill(-pgid, 0) == nil }

// youngGroupAlive is groupAlive for the group of a script that started a moment ago.
func youngGroupAlive(pgid int) bool { return groupAlive(pgid) }

// groupAlive reports whether a process group has living members.
func groupAlive(pgid int) bool { return groupExists(pgid) }
