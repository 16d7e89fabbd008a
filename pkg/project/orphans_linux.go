package project

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killOrphans kills the scripts that still run with a state directory whose owner was killed. Normally the kernel has
// killed them already; see pkg/run/script.
func killOrphans(dir string) {
	for _, pid := range runningFor(dir) {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// runningFor returns the processes that a tool started: a variable of their environment is a path in the state
// directory.
func runningFor(dir string) (list []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	mark := []byte("\x00MCP_CANCEL_FILE=" + dir + "/")
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile("/proc/" + name + "/environ")
		if err == nil && bytes.Contains(append([]byte{0}, environ...), mark) {
			list = append(list, pid)
		}
	}
	return list
}

// programOf returns the name of a process's program, or "" if the process has ended.
func programOf(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSuffix(string(name), "\n")
}
