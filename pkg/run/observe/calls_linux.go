//go:build amd64 || arm64

package observe

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
)

// A call is a system call that waits for our answer.
type call struct {
	session *Session
	*confine.Notification
}

// An inspector records accesses of a call that the profile does not permit. refused means that the
// filter refuses the call with any arguments.
type inspector func(c *call, refused bool)

// inspectors are the inspectors of calls whose arguments are relevant.
var inspectors = func() map[uintptr]inspector {
	all := map[uintptr]inspector{
		unix.SYS_OPENAT:   func(c *call, _ bool) { c.open(c.dir(0), c.Arguments[1], c.Arguments[2]) },
		unix.SYS_OPENAT2:  (*call).openat2,
		unix.SYS_TRUNCATE: func(c *call, _ bool) { c.write(atCWD, c.Arguments[0]) },

		unix.SYS_EXECVE:   func(c *call, _ bool) { c.start(atCWD, c.Arguments[0], 0) },
		unix.SYS_EXECVEAT: func(c *call, _ bool) { c.start(c.dir(0), c.Arguments[1], c.Arguments[4]) },

		unix.SYS_MKDIRAT:   func(c *call, _ bool) { c.make(c.dir(0), c.Arguments[1], Directory) },
		unix.SYS_MKNODAT:   func(c *call, _ bool) { c.make(c.dir(0), c.Arguments[1], "") },
		unix.SYS_SYMLINKAT: func(c *call, _ bool) { c.make(c.dir(1), c.Arguments[2], "") },
		unix.SYS_UNLINKAT:  func(c *call, _ bool) { c.remove(c.dir(0), c.Arguments[1]) },
		unix.SYS_LINKAT: func(c *call, _ bool) {
			c.link(c.dir(0), c.Arguments[1], c.dir(2), c.Arguments[3], c.Arguments[4])
		},
		unix.SYS_RENAMEAT:  (*call).rename,
		unix.SYS_RENAMEAT2: (*call).rename,

		unix.SYS_SOCKET:     (*call).socket,
		unix.SYS_SOCKETPAIR: (*call).socket,
		unix.SYS_CONNECT:    func(c *call, _ bool) { c.address(Connect, c.Arguments[1], c.Arguments[2]) },
		unix.SYS_BIND:       func(c *call, _ bool) { c.address(Listen, c.Arguments[1], c.Arguments[2]) },
		unix.SYS_SENDTO:     func(c *call, _ bool) { c.address(Send, c.Arguments[4], c.Arguments[5]) },
		unix.SYS_SENDMSG:    func(c *call, _ bool) { c.message(c.Arguments[1]) },
		unix.SYS_SENDMMSG: func(c *call, _ bool) {
			for i := range min(c.Arguments[2], mostMessages) {
				c.message(c.Arguments[1] + i*messageSize)
			}
		},

		unix.SYS_IOCTL: (*call).command,

		unix.SYS_KILL:            (*call).signal,
		unix.SYS_RT_SIGQUEUEINFO: (*call).signal,
	}
	for _, number := range []uintptr{
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT,
		unix.SYS_FILE_SETATTR,
	} {
		all[number] = func(c *call, refused bool) { c.modes(c.dir(0), c.Arguments[1], refused) }
	}
	for _, number := range []uintptr{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	} {
		all[number] = func(c *call, refused bool) { c.modes(atCWD, c.Arguments[0], refused) }
	}
	for _, number := range []uintptr{
		unix.SYS_FCHMOD, unix.SYS_FCHOWN, unix.SYS_FSETXATTR, unix.SYS_FREMOVEXATTR,
	} {
		all[number] = func(c *call, refused bool) { c.modesOf(c.dir(0), refused) }
	}
	maps.Copy(all, legacy)
	return all
}()

// watched are the reported calls: calls with inspectors, and calls that need a capability. Sockets
// are not included, because later calls contain the addresses. Commands are not included, because
// nearly all of them are for terminals. Refused calls are always reported.
var watched = func() []uintptr {
	list := []uintptr{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
		unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_KCMP,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT,
	}
	for number := range inspectors {
		if number != unix.SYS_SOCKET && number != unix.SYS_SOCKETPAIR && number != unix.SYS_IOCTL {
			list = append(list, number)
		}
	}
	slices.Sort(list)
	return list
}()

const (
	atCWD        = int32(unix.AT_FDCWD)
	mostMessages = 16
	messageSize  = 64 // struct mmsghdr

	mostAncestors = 64
)

func (c *call) dir(argument int) int32 { return int32(uint32(c.Arguments[argument])) }

func (c *call) open(dir int32, pointer, flags uint64) {
	if flags&unix.O_PATH != 0 {
		return
	}
	exclusive := flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL
	t, ok := c.find(dir, pointer, flags&unix.O_NOFOLLOW == 0 && !exclusive)
	switch {
	case !ok, t.exists && exclusive:
	case flags&unix.O_TMPFILE == unix.O_TMPFILE:
		c.change(target{path: filepath.Join(t.path, "new")}, "")
	case !t.exists && flags&unix.O_CREAT != 0:
		c.change(t, File)
	case !t.exists:
	case flags&unix.O_ACCMODE == unix.O_RDONLY && flags&unix.O_TRUNC == 0:
		c.file(Read, t)
	default:
		c.file(Write, t)
		if flags&unix.O_ACCMODE != unix.O_WRONLY {
			c.file(Read, t)
		}
	}
}

// opens reports whether the call opens a file, and returns the pointer to its path.
func (c *call) opens() (pointer uint64, opens bool) {
	switch uintptr(c.Number) {
	case unix.SYS_OPENAT, unix.SYS_OPENAT2:
		return c.Arguments[1], true
	case legacyOpen:
		return c.Arguments[0], true
	}
	return 0, false
}

func (c *call) openat2(bool) {
	var how [8]byte // flags are the first member
	if !c.read(how[:], c.Arguments[2]) {
		c.unread()
		return
	}
	c.open(c.dir(0), c.Arguments[1], binary.NativeEndian.Uint64(how[:]))
}

func (c *call) write(dir int32, pointer uint64) {
	if t, ok := c.find(dir, pointer, true); ok && t.exists {
		c.file(Write, t)
	}
}

func (c *call) file(kind Kind, t target) {
	isDir := t.mode&unix.S_IFMT == unix.S_IFDIR
	need := confine.MayRead
	switch {
	case kind == Write && isDir:
		return
	case kind == Write:
		need = confine.MayWrite
	case isDir:
		need = confine.MayList
	case kind == Start:
		need = confine.MayStart
	}
	c.want(Access{Kind: kind, Path: t.path}, need)
}

func (c *call) change(t target, made Made) {
	c.want(Access{Kind: Change, Path: t.path, Made: made}, confine.MayChange)
}

// want records an access that the rules refuse.
func (c *call) want(a Access, need confine.Need) {
	if a.Path == "/dev/tty" || !c.session.rules.Refuses(need, a.Path) { // tools have no terminal
		return
	}
	if rest, ok := strings.CutPrefix(a.Path, "/proc/"+strconv.Itoa(int(c.Thread))+"/"); ok {
		a.Path = "/proc/self/" + rest
	}
	c.add(a)
}

func (c *call) make(dir int32, pointer uint64, made Made) {
	if t, ok := c.find(dir, pointer, false); ok && !t.exists {
		c.change(t, made)
	}
}

func (c *call) remove(dir int32, pointer uint64) {
	if t, ok := c.find(dir, pointer, false); ok && t.exists {
		c.change(t, "")
	}
}

func (c *call) rename(bool) { c.move(c.dir(0), c.Arguments[1], c.dir(2), c.Arguments[3]) }

// move records moving an entry: removing it from one directory and creating it in another.
func (c *call) move(fromDir int32, from uint64, toDir int32, to uint64) {
	old, ok := c.find(fromDir, from, false)
	if !ok || !old.exists {
		return
	}
	if made, ok := c.find(toDir, to, false); ok {
		c.change(old, "")
		c.change(made, "")
	}
}

// link records creating another name for a file. If the directories differ, it needs the same rights in both.
func (c *call) link(fromDir int32, from uint64, toDir int32, to, flags uint64) {
	old, ok := c.findAt(fromDir, from, flags&unix.AT_SYMLINK_FOLLOW != 0, flags)
	if !ok || !old.exists {
		return
	}
	made, ok := c.find(toDir, to, false)
	if !ok || made.exists {
		return
	}
	c.change(made, "")
	if filepath.Dir(old.path) != filepath.Dir(made.path) {
		c.change(old, "")
	}
}

func (c *call) modes(dir int32, pointer uint64, refused bool) {
	if !refused {
		return
	}
	if path, ok := c.text(pointer); ok && path == "" { // AT_EMPTY_PATH
		c.modesOf(dir, true)
		return
	}
	if t, ok := c.find(dir, pointer, true); ok && t.exists {
		c.add(Access{Kind: Modes, Path: t.path})
	}
}

// modesOf is modes for a descriptor. It ignores files without a name, such as Bash's here
// documents, which Bash makes read-only.
func (c *call) modesOf(fd int32, refused bool) {
	if !refused {
		return
	}
	link := fmt.Sprintf("/proc/%d/fd/%d", c.Thread, fd)
	path, err := os.Readlink(link)
	var st unix.Stat_t
	if err == nil && filepath.IsAbs(path) && unix.Stat(link, &st) == nil && st.Nlink > 0 {
		c.add(Access{Kind: Modes, Path: path})
	}
}

// command records a command to a device or file. It ignores commands without effects that only the
// file system refuses.
func (c *call) command(refused bool) {
	switch command := uint32(c.Arguments[1]); {
	case !refused:
	case open.Refuses(c.session.thread, c.Number, c.Arguments) != 0:
		c.add(Access{Kind: Call, Name: "ioctl"})
	case slices.Contains(changingCommands, command):
		c.modesOf(c.dir(0), true)
	}
}

const (
	fsSetXattr   = 0x401c5820 // FS_IOC_FSSETXATTR
	fsSetVersion = 0x40087602 // FS_IOC_SETVERSION
)

var changingCommands = []uint32{
	unix.FS_IOC_SETFLAGS, fsSetXattr, fsSetVersion, unix.FS_IOC_ENABLE_VERITY, unix.FS_IOC_SET_ENCRYPTION_POLICY,
}

// start records starting a program, and the interpreter of its first line.
func (c *call) start(dir int32, pointer, flags uint64) {
	if flags&execCheck != 0 { // the call starts nothing
		return
	}
	t, ok := c.findAt(dir, pointer, flags&unix.AT_SYMLINK_NOFOLLOW == 0, flags)
	for range mostInterpreters {
		if !ok || !t.exists || t.mode&unix.S_IFMT != unix.S_IFREG {
			return
		}
		c.file(Start, t)
		interpreter := interpreterOf(t.path)
		if interpreter == "" {
			return
		}
		t, ok = c.walk(atCWD, interpreter, true)
	}
}

const execCheck = 0x10000 // AT_EXECVE_CHECK

// mostInterpreters is the kernel's limit for interpreters of interpreters.
const mostInterpreters = 5

// interpreterOf returns the program that a file's first line names, or "".
func interpreterOf(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	var head [256]byte // the kernel reads as much
	n, _ := f.ReadAt(head[:], 0)
	return interpreter(head[:n])
}

// interpreter is interpreterOf for the first bytes of a file.
func interpreter(head []byte) string {
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	program, _, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte(" "))
	program, _, _ = bytes.Cut(program, []byte("\t"))
	program, _, _ = bytes.Cut(program, []byte{0})
	return string(program)
}

func (c *call) socket(refused bool) {
	if !refused {
		return
	}
	name, kind, protocol := "", c.Arguments[1]&0xf, uint32(c.Arguments[2])
	switch family := int32(c.Arguments[0]); {
	case uintptr(c.Number) == unix.SYS_SOCKETPAIR:
		name = "unix"
	case family == unix.AF_INET || family == unix.AF_INET6:
		name = internetProtocol(kind, protocol)
	case family == unix.AF_UNIX:
		name = "unix"
	case family == unix.AF_NETLINK && protocol == unix.NETLINK_ROUTE:
		name = "netlink"
	case family == unix.AF_NETLINK:
		name = "netlink protocol " + strconv.Itoa(int(protocol))
	default:
		name = "family " + strconv.Itoa(int(family))
	}
	if a := (Access{Kind: Socket, Name: name}); name == "unix" && kind == unix.SOCK_STREAM {
		c.ask(a)
	} else {
		c.add(a)
	}
}

func internetProtocol(kind uint64, protocol uint32) string {
	switch {
	case kind == unix.SOCK_STREAM && slices.Contains([]uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_MPTCP}, protocol):
		return "tcp"
	case kind == unix.SOCK_DGRAM && slices.Contains([]uint32{0, unix.IPPROTO_UDP}, protocol):
		return "udp"
	case kind == unix.SOCK_RAW:
		return "raw"
	}
	return "protocol " + strconv.Itoa(int(protocol))
}

// message records the address of a message (struct msghdr).
func (c *call) message(pointer uint64) {
	var head [16]byte
	if !c.read(head[:], pointer) {
		c.unread()
		return
	}
	c.address(Send, binary.NativeEndian.Uint64(head[:]), uint64(binary.NativeEndian.Uint32(head[8:])))
}

// address records an operation of a socket, the first argument, with an address.
func (c *call) address(kind Kind, pointer, length uint64) {
	if pointer == 0 || length < 2 {
		return
	}
	b := make([]byte, min(length, unix.SizeofSockaddrAny))
	if !c.read(b, pointer) {
		c.unread()
		return
	}
	to := parseAddress(b)
	a := Access{Kind: kind, Name: c.protocol(), Port: to.port}
	rules, refused := c.session.rules, false
	switch {
	case to.family == unix.AF_UNIX:
		c.local(kind, to.name)
		return
	case to.family == unix.AF_NETLINK:
		a.Name = "netlink"
		refused = c.session.refusesSocket(a.Name)
	case to.family != unix.AF_INET && to.family != unix.AF_INET6:
	case a.Name == "tcp" && kind == Connect:
		refused = !rules.AllowTCP(a.Port)
	case a.Name == "tcp":
		refused = !rules.AllowBind()
	default:
		refused = c.session.refusesSocket(a.Name)
	}
	if refused {
		c.add(a)
	}
}

type socketAddress struct {
	family uint16
	port   int
	name   []byte // of a Unix socket; abstract names begin with a zero byte
}

func parseAddress(b []byte) (to socketAddress) {
	if len(b) < 2 {
		return to
	}
	switch to.family = binary.NativeEndian.Uint16(b); {
	case to.family == unix.AF_UNIX:
		to.name = b[2:]
		if len(to.name) > 0 && to.name[0] != 0 {
			to.name, _, _ = bytes.Cut(to.name, []byte{0})
		}
	case len(b) < 4:
		to.family = unix.AF_UNSPEC
	default:
		to.port = int(binary.BigEndian.Uint16(b[2:]))
	}
	return to
}

func (c *call) local(kind Kind, name []byte) {
	a := Access{Kind: kind, Name: "unix"}
	switch {
	case len(name) == 0:
		return
	case name[0] == 0:
		a.Path = "@" + string(name[1:])
	default:
		t, ok := c.walk(atCWD, string(name), true)
		if !ok || t.exists == (kind == Listen) {
			return
		}
		a.Path = t.path
		if kind == Listen {
			c.change(t, "")
		}
	}
	if c.session.refusesSocket("unix") {
		c.add(a)
	}
}

func (s *Session) refusesSocket(name string) bool {
	family, kind := uint64(unix.AF_INET), uint64(unix.SOCK_STREAM)
	switch name {
	case "udp":
		kind = unix.SOCK_DGRAM
	case "raw":
		kind = unix.SOCK_RAW
	case "unix":
		family = unix.AF_UNIX
	case "netlink":
		family, kind = unix.AF_NETLINK, unix.SOCK_RAW
	}
	return s.profile.Refuses(s.thread, unix.SYS_SOCKET, [6]uint64{family, kind}) != 0
}

func (c *call) protocol() string {
	var b [64]byte
	link := fmt.Sprintf("/proc/%d/fd/%d", c.Thread, int32(c.Arguments[0]))
	n, _ := unix.Getxattr(link, "system.sockprotoname", b[:])
	name := strings.ToLower(strings.TrimRight(string(b[:max(n, 0)]), "\x00"))
	switch name = strings.TrimSuffix(name, "v6"); {
	case strings.HasPrefix(name, "mptcp"):
		return "tcp"
	case name == "ping":
		return "raw"
	}
	return name
}

// signal records a signal to a process that is not the script's, and the signal that no confined process may send.
func (c *call) signal(refused bool) {
	if refused && uint32(c.Arguments[1]) == uint32(unix.SIGSTOP) {
		c.add(Access{Kind: Call, Name: callName(uintptr(c.Number))})
		return
	}
	pid := int32(c.Arguments[0])
	if c.session.rules.Signals && !refused || pid == 0 {
		return
	}
	if group := -pid; pid < -1 {
		pid = group // the first process of the group
	}
	if pid != -1 && c.session.own(pid) || unix.Kill(int(c.dir(0)), 0) != nil {
		return
	}
	name := "all processes"
	if pid != -1 {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		name = fmt.Sprintf("%d (%s)", pid, bytes.TrimSpace(comm))
	}
	c.add(Access{Kind: Signal, Name: name})
}

// own reports whether a process belongs to the script: it made a reported call, or descends from a
// process that did.
func (s *Session) own(pid int32) bool {
	for range mostAncestors {
		if pid <= 1 {
			return false
		}
		if s.seen[uint32(pid)] {
			return true
		}
		pid = parent(pid)
	}
	return false
}

func parent(pid int32) int32 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// pid (command) state parent …; a command may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[1]))
	return int32(n)
}

// callNames are the names of calls that are refused with any arguments.
var callNames = map[uintptr]string{
	unix.SYS_IO_URING_SETUP: "io_uring_setup", unix.SYS_IO_URING_ENTER: "io_uring_enter",
	unix.SYS_IO_URING_REGISTER: "io_uring_register", unix.SYS_BPF: "bpf",
	unix.SYS_PERF_EVENT_OPEN: "perf_event_open", unix.SYS_USERFAULTFD: "userfaultfd",
	unix.SYS_OPEN_BY_HANDLE_AT: "open_by_handle_at", unix.SYS_INIT_MODULE: "init_module",
	unix.SYS_FINIT_MODULE: "finit_module", unix.SYS_DELETE_MODULE: "delete_module",
	unix.SYS_KEXEC_LOAD: "kexec_load", unix.SYS_KEXEC_FILE_LOAD: "kexec_file_load", unix.SYS_REBOOT: "reboot",
	unix.SYS_ADD_KEY: "add_key", unix.SYS_REQUEST_KEY: "request_key", unix.SYS_KEYCTL: "keyctl",
	unix.SYS_PTRACE: "ptrace", unix.SYS_PROCESS_VM_READV: "process_vm_readv",
	unix.SYS_PROCESS_VM_WRITEV: "process_vm_writev", unix.SYS_PROCESS_MADVISE: "process_madvise",
	unix.SYS_PIDFD_GETFD: "pidfd_getfd", unix.SYS_KCMP: "kcmp", unix.SYS_PIDFD_SEND_SIGNAL: "pidfd_send_signal",
	unix.SYS_KILL: "kill", unix.SYS_RT_SIGQUEUEINFO: "rt_sigqueueinfo",
	unix.SYS_TKILL: "tkill", unix.SYS_TGKILL: "tgkill", unix.SYS_RT_TGSIGQUEUEINFO: "rt_tgsigqueueinfo",
	unix.SYS_LISTEN: "listen", unix.SYS_MEMFD_CREATE: "memfd_create",
	unix.SYS_FCNTL: "fcntl", unix.SYS_PRLIMIT64: "prlimit64", unix.SYS_SCHED_SETAFFINITY: "sched_setaffinity",
	unix.SYS_SCHED_SETSCHEDULER: "sched_setscheduler", unix.SYS_SCHED_SETPARAM: "sched_setparam",
	unix.SYS_SCHED_SETATTR: "sched_setattr", unix.SYS_SETPRIORITY: "setpriority", unix.SYS_IOPRIO_SET: "ioprio_set",
	unix.SYS_MIGRATE_PAGES: "migrate_pages", unix.SYS_MOVE_PAGES: "move_pages",
	unix.SYS_INOTIFY_INIT1: "inotify_init", unix.SYS_FANOTIFY_INIT: "fanotify_init",
}

func callName(number uintptr) string {
	return cmp.Or(callNames[number], "system call "+strconv.Itoa(int(number)))
}
