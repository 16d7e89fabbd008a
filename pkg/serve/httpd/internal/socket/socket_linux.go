package socket

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/text/ascii"
)

// maxPath is the maximum length of the path of a socket. The kernel has 108 bytes, the last of which is 0.
const maxPath = 107

// shortcut is the folder with the open files of this process.
const shortcut = "/proc/self/fd"

// listening describes the process that listens at the other end of a connection.
func listening(conn net.Conn) (process string) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return ""
	}
	raw.Control(func(fd uintptr) {
		id, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil || id.Pid <= 0 { // 0: of another namespace
			return
		}
		process = fmt.Sprintf("process %d", id.Pid)
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", id.Pid)); err == nil {
			process += " (" + ascii.TrimLine(string(name)) + ")"
		}
	})
	return process
}
