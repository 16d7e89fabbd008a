package script

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// groupThere reports whether a process group has members, dead ones that nobody has collected included.
func groupThere(pgid int) bool { return unix.Kill(-pgid, 0) != unix.ESRCH }

// groupAlive reports whether anything of a process group still runs. The dead
// that nobody has collected do not count: an init process that never collects
// (usual in containers) would have us wait for them for nothing.
func groupAlive(pgid int) bool {
	if !groupThere(pgid) {
		return false
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return true
	}
	group := strconv.Itoa(pgid)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// pid (command) state parent group …; a command may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && string(fields[2]) == group && fields[0][0] != 'Z' && fields[0][0] != 'X' {
			return true
		}
	}
	return false
}
