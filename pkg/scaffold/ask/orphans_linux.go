package ask

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of the processes that programs leave behind. So endOrphans
// finds them even if they have left their process group.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endOrphans kills the adopted processes, and those that are adopted when their parents end. A
// process that this program started itself is in its session, and is not among them.
func endOrphans() {
	session, err := unix.Getsid(0)
	if err != nil {
		return
	}
	// WNOWAIT leaves ended children for their own waits.
	for found := true; found; {
		found = false
		if unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD {
			return
		}
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || !isOrphan(pid, session) || unix.Kill(pid, unix.SIGKILL) != nil {
				continue
			}
			if _, err := unix.Wait4(pid, nil, 0, nil); err == nil {
				found = true
			}
		}
	}
}

// isOrphan reports whether a process is a child of this one in another session.
func isOrphan(pid, session int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	// pid (command) state parent group session …; a command may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 3 && string(fields[1]) == strconv.Itoa(os.Getpid()) &&
		string(fields[3]) != strconv.Itoa(session)
}
