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
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' && livesIn(pgid, name) {
			return true
		}
	}
	return false
}

// mostYounger is up to how many process numbers are cheaper to ask for than all processes.
const mostYounger = 1000

// youngGroupAlive is groupAlive for the group of a script that has ended and was started a moment ago. Process
// numbers are given out in order, so its members are among the few that came after the script. A call whose script
// used a process substitution comes here, as nobody has collected that yet: it must cost next to nothing.
func youngGroupAlive(pgid int) bool {
	last := lastProcess()
	if last < pgid || last-pgid > mostYounger { // they began anew, or there were many
		return groupAlive(pgid)
	}
	for pid := pgid + 1; pid <= last; pid++ {
		if group, err := unix.Getpgid(pid); err == nil && group == pgid && livesIn(pgid, strconv.Itoa(pid)) {
			return true
		}
	}
	return false
}

// lastProcess returns the number of the process that was started last, 0 if the system does not say.
func lastProcess() int {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(load[bytes.LastIndexByte(load, ' ')+1:])))
	return pid
}

// livesIn reports whether a process is alive and a member of a group.
func livesIn(pgid int, pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	// pid (command) state parent group …; a command may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 2 && string(fields[2]) == strconv.Itoa(pgid) && fields[0][0] != 'Z' && fields[0][0] != 'X'
}
