package project

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// killOrphans kills the scripts that still run for a state directory whose
// owner was killed: those with a path into it in their environment. The kernel
// has normally done so already; see pkg/script.
func killOrphans(dir string) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	mark := []byte("\x00MCP_CANCEL_FILE=" + dir + "/")
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && bytes.Contains(append([]byte{0}, environ...), mark) {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}
