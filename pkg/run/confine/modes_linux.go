package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// serveModes answers calls about modes until no process has the filter any more. It waits in the
// poller of Go's runtime, so a listener needs no thread.
func serveModes(listener int) {
	if unix.SetNonblock(listener, true) != nil {
		unix.Close(listener)
		return
	}
	f := os.NewFile(uintptr(listener), "seccomp listener")
	defer f.Close() // waiting calls fail with ENOSYS
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Read(func(uintptr) (done bool) {
		for {
			n, ok, err := Receive(listener, 0)
			if !ok {
				return err != nil
			}
			Respond(listener, Response{ID: n.ID, Error: -int32(n.ChangeModes(listener))})
		}
	})
}

// AsksFor reports whether a filter leaves the decision about a call to [Notification.ChangeModes].
func AsksFor(number int32) bool { return number == unix.SYS_FCHMOD || number == unix.SYS_FCHOWN }

// ChangeModes changes the mode or owner of a file for a process, if [Notification.MayChangeModes]
// permits it. It returns the error of the call, or 0 (CF-24).
func (n *Notification) ChangeModes(listener int) unix.Errno {
	fd, errno := n.openToChange(listener, true)
	if errno != 0 {
		return errno
	}
	defer unix.Close(fd)
	var err error
	switch n.Number {
	case unix.SYS_FCHMOD: // fchmod does not accept a descriptor that is opened with O_PATH
		err = unix.Fchmodat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), uint32(n.Arguments[1])&0o7777, 0)
	case unix.SYS_FCHOWN:
		err = unix.Fchownat(fd, "", int(int32(n.Arguments[1])), int(int32(n.Arguments[2])), unix.AT_EMPTY_PATH)
	default:
		return unix.EPERM
	}
	if err != nil {
		errors.As(err, &errno)
	}
	return errno
}

// MayChangeModes reports whether the process has opened the file for writing, which Landlock has
// permitted, and its user may change the file. Before Linux 5.14 it cannot detect that another thread
// replaces the descriptor meanwhile. Then it is false with enforce, and otherwise good enough for a report.
func (n *Notification) MayChangeModes(listener int, enforce bool) bool {
	fd, errno := n.openToChange(listener, enforce)
	if errno == 0 {
		unix.Close(fd)
	}
	return errno == 0
}

// openToChange opens the file of the call's descriptor with O_PATH. With enforce it refuses a descriptor whose file
// the kernel does not identify.
func (n *Notification) openToChange(listener int, enforce bool) (fd int, refusal unix.Errno) {
	process := fmt.Sprintf("/proc/%d/", n.Thread)
	name := strconv.Itoa(int(int32(n.Arguments[0])))
	fd, err := unix.Open(process+"fd/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, unix.EPERM
	}
	// The descriptor may refer to another file by now, so both are read after the open.
	theirs, ours := readDescriptor(process+"fdinfo/"+name), readDescriptor("/proc/self/fdinfo/"+strconv.Itoa(fd))
	// The access mode 3 permits neither reading nor writing, so Landlock allows it for every file.
	mode := theirs.flags & unix.O_ACCMODE
	writes := (mode == unix.O_WRONLY || mode == unix.O_RDWR) && theirs.flags&unix.O_PATH == 0
	isKnown := theirs.file != "" || !enforce
	if !writes || !isKnown || theirs.file != ours.file || !n.isOurs(fd) || !n.Waits(listener) {
		unix.Close(fd)
		return -1, unix.EPERM
	}
	return fd, 0
}

// isOurs reports whether the process has our user, and whether this user may change the file.
func (n *Notification) isOurs(fd int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.Thread))
	_, line, _ := bytes.Cut(status, []byte("\nUid:"))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	const forFiles = 3 // after the real, the effective and the saved user
	users := bytes.Fields(line)
	if err != nil || len(users) <= forFiles || string(users[forFiles]) != strconv.Itoa(unix.Geteuid()) {
		return false
	}
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		(unix.Geteuid() == 0 || int(st.Uid) == unix.Geteuid())
}

// A descriptor is an entry of fdinfo (proc_pid_fdinfo(5)).
type descriptor struct {
	flags int
	file  string // mount and inode, or "" before Linux 5.14
}

func readDescriptor(path string) (d descriptor) {
	text, err := os.ReadFile(path)
	if err != nil {
		return d
	}
	fields := map[string]string{}
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		fields[string(name)] = string(bytes.TrimSpace(value))
	}
	flags, err := strconv.ParseInt(fields["flags"], 8, 64)
	if err != nil {
		return d
	}
	d.flags = int(flags)
	if fields["ino"] != "" && fields["mnt_id"] != "" {
		d.file = fields["mnt_id"] + " " + fields["ino"]
	}
	return d
}
