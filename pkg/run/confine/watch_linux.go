package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A Watch reports system calls to a listener, which decides about them.
type Watch struct {
	Calls []uintptr // reported calls, in addition to refused ones
	// StartsFrom is the address of the instruction with which this process starts programs. These
	// calls are not reported: the thread that forks waits for them, and blocks the stop of our
	// other threads.
	StartsFrom uint64
}

const offInstruction = 8

// instructions returns instructions that permit program starts of this process. They begin and end with the call
// number in the accumulator.
func (w *Watch) instructions() []bpf.Instruction {
	return []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_EXECVE, SkipFalse: 6},
		bpf.LoadAbsolute{Off: offInstruction, Size: word},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(w.StartsFrom), SkipFalse: 3},
		bpf.LoadAbsolute{Off: offInstruction + word, Size: word},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(w.StartsFrom >> 32), SkipFalse: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
		bpf.LoadAbsolute{Off: offNumber, Size: word},
	}
}

// EnterWatched is [Kernel.Enter], but reports the calls of a watch and refused calls to the listener.
func (k Kernel) EnterWatched(p *Profile, w *Watch) (listener int, err error) {
	if !k.Filters {
		return -1, errNoListener
	}
	if err := k.beforeFilter(p); err != nil {
		return -1, err
	}
	return w.listen(p)
}

// Enter reports the calls of a watch, calls that no profile permits, and commands to devices and
// files that p refuses. It does not confine the thread.
func (w *Watch) Enter(k Kernel, p *Profile) (listener int, err error) {
	if !k.Filters {
		return -1, errNoListener
	}
	if err := enterable(); err != nil {
		return -1, err
	}
	commands := slices.DeleteFunc(denials(p, 0), func(d denial) bool { return d.number != unix.SYS_IOCTL })
	return w.listen(&Profile{AllFiles: true, Modes: true, Network: true, Process: true}, commands...)
}

var errNoListener = errors.New("observing a script needs seccomp filters")

func (w *Watch) listen(p *Profile, more ...denial) (listener int, err error) {
	program, err := assemble(p, unix.Gettid(), w, false, more...)
	if err == nil {
		listener, err = listenTo(program)
	}
	if err != nil {
		return -1, fmt.Errorf("seccomp listener: %w", err)
	}
	return listener, nil
}

// FindStart returns the address for [Watch.StartsFrom]: the one instruction with which package
// syscall enters the kernel. It needs a separate thread, which ends with its goroutine. A filter
// reports one call of FindStart with its address.
func FindStart() (from uint64, err error) {
	if err := system.noNewPrivs(); err != nil {
		return 0, err
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: offNumber, Size: word},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_GETPPID, SkipFalse: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		return 0, err
	}
	listener, err := listenTo(filterOf(raw))
	if err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(listener) // the call continues in any case
		var n Notification
		if n, _, err = Receive(listener, -1); err == nil {
			from, err = n.Instruction, Respond(listener, Response{ID: n.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
		}
	}()
	unix.Syscall(unix.SYS_GETPPID, 0, 0, 0)
	<-done
	return from, err
}

// listenTo installs a filter with a listener. From Linux 5.19, signals do not interrupt a call that
// the listener has received.
func listenTo(program []unix.SockFilter) (listener int, err error) {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	const flags = unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW | unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	for _, more := range []uintptr{unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 0} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags|more, uintptr(unsafe.Pointer(&p)))
		if errno == 0 {
			return int(fd), nil
		}
		err = errno
	}
	return -1, err
}

// Refuses returns the error of a system call under the filter of a profile, or 0 if it is
// permitted. thread is the confined thread.
func (p *Profile) Refuses(thread int, number int32, arguments [6]uint64) unix.Errno {
	for _, d := range denials(p, uint32(thread)) {
		if uint32(d.number) == uint32(number) && d.applies(arguments) {
			return d.error()
		}
	}
	return 0
}

func (d *denial) applies(arguments [6]uint64) bool {
	for _, c := range d.when {
		value := uint32(arguments[c.argument])
		if c.mask != 0 {
			value &= c.mask
		}
		switch {
		case c.test == bpf.JumpEqual && value != c.value, c.test == bpf.JumpNotEqual && value == c.value,
			c.test == bpf.JumpBitsSet && value&c.value == 0:
			return false
		}
	}
	return true
}

// Foreign reports whether a system call belongs to another ABI.
func Foreign(arch uint32, number int32) bool {
	return arch != auditArch || firstX32 > 0 && uint32(number) >= firstX32
}

// Rules predict the decisions of a domain. Like a domain, they know files and not names.
type Rules struct {
	Signals bool // processes outside the domain may be signalled

	profile *Profile
	handled uint64
	of      map[file]uint64
}

type file struct{ dev, ino uint64 }

// A Need is a kind of access to a file.
type Need uint64

// Kinds of access. MayChange is about creating, removing or moving the entry of a path.
const (
	MayRead   = Need(unix.LANDLOCK_ACCESS_FS_READ_FILE)
	MayList   = Need(unix.LANDLOCK_ACCESS_FS_READ_DIR)
	MayWrite  = Need(unix.LANDLOCK_ACCESS_FS_WRITE_FILE)
	MayChange = Need(unix.LANDLOCK_ACCESS_FS_MAKE_REG)
	MayStart  = Need(unix.LANDLOCK_ACCESS_FS_EXECUTE)
)

// Rules returns the rules of a profile.
func (k Kernel) Rules(p *Profile) (*Rules, error) {
	attr := k.handled(p)
	r := &Rules{
		Signals: attr.Scoped&unix.LANDLOCK_SCOPE_SIGNAL == 0, profile: p,
		handled: attr.Handled_access_fs, of: map[file]uint64{},
	}
	return r, p.eachRule(r.handled, func(_ int, st *unix.Stat_t, rights uint64) error {
		r.of[file{st.Dev, st.Ino}] |= rights
		return nil
	})
}

// AllowTCP reports whether connections to a port are permitted.
func (r *Rules) AllowTCP(port int) bool {
	return r.profile.Network || slices.Contains(r.profile.Connect, uint16(port))
}

// AllowBind reports whether listening on a port is permitted.
func (r *Rules) AllowBind() bool { return r.profile.Network }

// Refuses reports whether the domain is the reason that access to a file fails: the user has access, but the domain
// does not permit it. The path is as in [Rules.Allow].
func (r *Rules) Refuses(need Need, path string) bool {
	if r.Allow(need, path) {
		return false
	}
	access := uint32(unix.R_OK)
	switch need {
	case MayWrite:
		access = unix.W_OK
	case MayChange:
		path, access = filepath.Dir(path), unix.W_OK|unix.X_OK
	case MayStart:
		access = unix.X_OK
	}
	return unix.Faccessat(unix.AT_FDCWD, path, access, unix.AT_EACCESS) == nil
}

// Allow reports whether access to a file is permitted. The path is absolute, without links.
func (r *Rules) Allow(need Need, path string) bool {
	if r.handled&uint64(need) == 0 {
		return true
	}
	if need == MayChange {
		path = filepath.Dir(path)
	}
	for {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && r.of[file{st.Dev, st.Ino}]&uint64(need) != 0 {
			return true
		}
		if path == "/" || path == "." {
			return false
		}
		path = filepath.Dir(path)
	}
}

// A Notification is a system call that waits for a listener (struct seccomp_notif).
type Notification struct {
	ID          uint64
	Thread      uint32
	flags       uint32
	Number      int32
	Arch        uint32
	Instruction uint64
	Arguments   [6]uint64
}

// A Response is the answer of a listener (struct seccomp_notif_resp).
type Response struct {
	ID    uint64
	Value int64
	Error int32 // negative
	Flags uint32
}

var errNoSender = errors.New("no process has this filter any more")

// Receive waits for a notification, with a timeout in milliseconds as for poll(2). ok is false
// after the timeout. Receive returns an error if no process has the filter any more.
func Receive(listener, milliseconds int) (n Notification, ok bool, err error) {
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		switch ready, err := unix.Poll(fds, milliseconds); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || ready == 0:
			return n, false, err
		case fds[0].Revents&unix.POLLIN == 0:
			return n, false, errNoSender
		}
		n = Notification{} // as the kernel requires
		switch err := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); {
		case err == nil:
			return n, true, nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOENT): // ENOENT: the process was killed
			return n, false, err
		}
	}
}

// Respond lets a call continue or fail. It returns an error if the process was killed.
func Respond(listener int, r Response) error {
	for {
		err := control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Waits reports whether the call still waits. Otherwise, data that was read from its process may
// belong to another process.
func (n *Notification) Waits(listener int) bool {
	id := n.ID
	return control(listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

func control(listener int, request uintptr, value unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), request, uintptr(value)); errno != 0 {
		return errno
	}
	return nil
}

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

// ChangeModes changes the mode or owner of a file for a process, if [Notification.MayChangeModes] permits it. It
// returns the error of the call, or 0.
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

// MayChangeModes reports whether the process has opened the file for writing, which Landlock has permitted, and its
// user may change the file. Before Linux 5.14 it cannot detect that another thread replaces the descriptor meanwhile.
// Then it returns false with enforce. Without enforce, it ignores this case, because a report need not be exact.
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
