package script

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// groupExists reports whether a process group has members, including zombies.
func groupExists(pgid int) bool { return unix.Kill(-pgid, 0) != unix.ESRCH }

// groupAlive reports whether a process group has living members. Zombies do not count, because the
// init process of many containers never collects them.
func groupAlive(pgid int) bool {
	if !groupExists(pgid) {
		return false
	}
	list, err := processes()
	return err != nil || slices.ContainsFunc(list, func(pid string) bool { return livesIn(pgid, pid) })
}

// processes returns the numbers of all processes.
func processes() ([]string, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	return slices.DeleteFunc(names, func(name string) bool { return name[0] < '0' || name[0] > '9' }), err
}

// mostYounger is the number of process numbers up to which checking each is cheaper than listing all processes.
const mostYounger = 1000

// youngGroupAlive is groupAlive for the group of a script that started a moment ago. Process
// numbers are assigned in order, so the members have numbers shortly after the script's. Every
// script with a process substitution needs this check, because its zombie is still there. So it
// must be cheap.
func youngGroupAlive(pgid int) bool {
	last := lastProcess()
	if last < pgid || last-pgid > mostYounger { // the numbers wrapped around, or there were many
		return groupAlive(pgid)
	}
	for pid := pgid + 1; pid <= last; pid++ {
		if group, err := unix.Getpgid(pid); err == nil && group == pgid && livesIn(pgid, strconv.Itoa(pid)) {
			return true
		}
	}
	return false
}

// lastProcess returns the number of the process that started last, or 0 if unknown.
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
	s, ok := statusOf(pid)
	return ok && s.alive && s.group == strconv.Itoa(pgid)
}

// A processStatus is a part of /proc/PID/stat.
type processStatus struct {
	alive                  bool // and not a zombie
	parent, group, session string
}

func statusOf(pid string) (s processStatus, ok bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	// pid (command) state parent group session …; a command may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 4 {
		return s, false
	}
	return processStatus{fields[0][0] != 'Z' && fields[0][0] != 'X', string(fields[1]), string(fields[2]),
		string(fields[3])}, true
}
