package confine

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets of struct seccomp_data. The filter reads the lower half of an argument, as the kernel
// does for int arguments, on little-endian processors.
const (
	offNumber    = 0
	offArch      = 4
	offArguments = 16
	word         = 4
)

// A denial is a system call that fails: always, or if all conditions are true.
type denial struct {
	number uintptr
	when   []condition
	err    unix.Errno // 0 is EACCES, which programs report as "Permission denied"
	asks   bool       // a listener decides, if there is one
}

// A condition tests one half of an argument, or some of its bits.
type condition struct {
	argument uint32
	upper    bool // the upper half, which the kernel ignores for int arguments
	test     bpf.JumpTest
	value    uint32
	mask     uint32 // 0 for all bits
}

func (d *denial) error() unix.Errno { return cmp.Or(d.err, unix.EACCES) }

// assemble returns the filter of a profile. thread is the confined thread. With a watch, its
// listener decides instead of refusing. listens means that there is another listener. extra has
// additional denials.
func assemble(p *Profile, thread int, w *Watch, listens bool, extra ...denial) ([]unix.SockFilter, error) {
	refuse := func(d denial) bpf.RetConstant {
		if w != nil || listens && d.asks {
			return bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}
		}
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(d.error())}
	}
	foreign := refuse(denial{err: unix.ENOSYS})
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: word},
		// Numbers have other meanings in other ABIs, so calls of other ABIs do not exist.
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1}, foreign,
		bpf.LoadAbsolute{Off: offNumber, Size: word},
	}
	if firstX32 > 0 {
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: firstX32, SkipFalse: 1}, foreign)
	}
	list := append(denials(p, uint32(thread)), extra...)
	if w != nil {
		program = append(program, w.instructions()...)
		list = append(always(w.Calls...), list...)
	}
	slices.SortStableFunc(list, func(a, b denial) int { return cmp.Compare(a.number, b.number) })
	var calls [][]denial
	for i := range list {
		if i == 0 || list[i].number != list[i-1].number {
			calls = append(calls, nil)
		}
		calls[len(calls)-1] = append(calls[len(calls)-1], list[i])
	}
	raw, err := bpf.Assemble(append(program, search(calls, refuse)...))
	if err != nil {
		return nil, err
	}
	return filterOf(raw), nil
}

// search returns the instructions that find a call among the denied calls, which are sorted by
// number. It is a binary search, because every system call runs it.
func search(calls [][]denial, refuse func(denial) bpf.RetConstant) []bpf.Instruction {
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	switch middle := len(calls) / 2; {
	case len(calls) == 0:
		return []bpf.Instruction{allow}
	case middle > 0:
		before := search(calls[:middle], refuse)
		list := append([]bpf.Instruction{
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: uint32(calls[middle][0].number), SkipFalse: 1},
			bpf.Jump{Skip: uint32(len(before))},
		}, before...)
		return append(list, search(calls[middle:], refuse)...)
	}
	list := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(calls[0][0].number), SkipTrue: 1}, allow,
	}
	for i := range calls[0] {
		list = append(list, calls[0][i].instructions(refuse)...)
	}
	return append(list, allow)
}

// instructions returns the refusal of a call, or continue after their end.
func (d *denial) instructions(refuse func(denial) bpf.RetConstant) []bpf.Instruction {
	list := []bpf.Instruction{refuse(*d)}
	for _, c := range slices.Backward(d.when) {
		at := offArguments + 8*c.argument
		if c.upper {
			at += word
		}
		test := []bpf.Instruction{bpf.LoadAbsolute{Off: at, Size: word}}
		if c.mask != 0 {
			test = append(test, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask})
		}
		test = append(test, bpf.JumpIf{Cond: c.test, Val: c.value, SkipFalse: uint8(len(list))})
		list = append(test, list...)
	}
	return list
}

func filterOf(raw []bpf.RawInstruction) []unix.SockFilter {
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return filter
}

// denials returns the refused calls of a profile. The first matching denial of a call determines the error.
func denials(p *Profile, thread uint32) []denial {
	list := always(unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
		unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT)
	if !p.AllFiles {
		list = append(list, always(unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL)...)
		list = append(list, contents()...)
	}
	if !p.Process {
		// Landlock does not cover programs in memory.
		list = append(list, always(unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
			unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_MEMFD_CREATE)...)
	}
	list = append(list, signals(thread)...)
	list = append(list, others()...)
	list = append(list, sockets(p)...)
	list = append(list, deviceCommands()...)
	if !p.AllFiles && !p.Modes {
		list = append(list, modes()...)
	}
	return list
}

// Conditions by the value of an argument.
func is(argument, value uint32) condition {
	return condition{argument: argument, test: bpf.JumpEqual, value: value}
}

func isNot(argument, value uint32) condition {
	return condition{argument: argument, test: bpf.JumpNotEqual, value: value}
}

func has(argument, bits uint32) condition {
	return condition{argument: argument, test: bpf.JumpBitsSet, value: bits}
}

func (c condition) inUpperHalf() condition { c.upper = true; return c }

func (c condition) of(mask uint32) condition { c.mask = mask; return c }

func refused(number uintptr, when ...condition) denial { return denial{number: number, when: when} }

// signals refuses signals to the thread that forked the script. Landlock permits them, and they would end this process.
// It also refuses two ways to stop a child of that thread that has not called exec yet. That child would stop the
// thread as well: SIGSTOP, and a lease on a file that the child opens.
func signals(thread uint32) []denial {
	list := []denial{
		refused(unix.SYS_FCNTL, is(1, unix.F_SETLEASE)), refused(unix.SYS_PIDFD_SEND_SIGNAL),
		refused(unix.SYS_FCNTL, is(1, unix.F_SETOWN), isNot(0, uint32(OwnMark()>>32)).inUpperHalf()),
		refused(unix.SYS_FCNTL, is(1, unix.F_SETOWN), isNot(2, uint32(OwnMark())).inUpperHalf()),
		refused(unix.SYS_FCNTL, is(1, unix.F_SETOWN_EX)),
		refused(unix.SYS_IOCTL, is(1, fioSetOwn)), refused(unix.SYS_IOCTL, is(1, unix.SIOCSPGRP)),
	}
	for _, call := range []struct{ number, target uintptr }{ // the signal is the argument after the target
		{unix.SYS_KILL, 0}, {unix.SYS_TKILL, 0}, {unix.SYS_TGKILL, 1}, {unix.SYS_RT_SIGQUEUEINFO, 0},
		{unix.SYS_RT_TGSIGQUEUEINFO, 1},
	} {
		target := uint32(call.target)
		list = append(list, refused(call.number, is(target+1, uint32(unix.SIGSTOP))),
			refused(call.number, is(target, thread)))
	}
	return list
}

// OwnMark returns a random secret of this process. Before a new process of a confined thread runs a script, it calls
// fcntl(F_SETOWN), which the filter allows only with the mark. Its upper half is in the upper 32 bits of the
// descriptor, its lower half in those of the owner. The kernel ignores these bits. A script does not know the mark,
// because it cannot read the memory of this process.
var OwnMark = sync.OnceValue(func() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.NativeEndian.Uint64(b[:])
})

// others refuses changes to limits, scheduling and memory of other processes. The number 0 is the process itself.
func others() []denial {
	return []denial{
		refused(unix.SYS_PRLIMIT64, isNot(0, 0)),
		refused(unix.SYS_SCHED_SETAFFINITY, isNot(0, 0)), refused(unix.SYS_SCHED_SETSCHEDULER, isNot(0, 0)),
		refused(unix.SYS_SCHED_SETPARAM, isNot(0, 0)), refused(unix.SYS_SCHED_SETATTR, isNot(0, 0)),
		refused(unix.SYS_SETPRIORITY, isNot(0, unix.PRIO_PROCESS)), refused(unix.SYS_SETPRIORITY, isNot(1, 0)),
		refused(unix.SYS_IOPRIO_SET, isNot(0, ioprioProcess)), refused(unix.SYS_IOPRIO_SET, isNot(1, 0)),
		refused(unix.SYS_MIGRATE_PAGES, isNot(0, 0)), refused(unix.SYS_MOVE_PAGES, isNot(0, 0)),
	}
}

// Kernel constants that package unix lacks.
const (
	fioSetOwn     = 0x8901 // FIOSETOWN
	ioprioProcess = 1      // IOPRIO_WHO_PROCESS

	newUserfaultfd = 0xaa00     // USERFAULTFD_IOC_NEW
	createInput    = 0x5501     // UI_DEV_CREATE
	createMachine  = 0xae01     // KVM_CREATE_VM
	setVhostOwner  = 0xaf01     // VHOST_SET_OWNER
	getFSXattr     = 0x801c581f // FS_IOC_FSGETXATTR
	fileExtents    = 0xc020660b // FS_IOC_FIEMAP

	anyCommand    = 0xff00     // bits of a command that identify its driver
	plainCommand  = 0xffffff00 // the same for a command without a size
	ofTerminals   = 0x5400
	ofSockets     = 0x8900
	ofKeyboard    = 0x4b00 // KD*
	ofConsoles    = 0x5600 // VT_*
	typeOfSockets = 0xf    // type of a socket, without flags
)

// deviceCommands refuses commands that reach refused features through a device. These features are terminal input, line
// disciplines, page faults in user space, raw packets and virtual machines.
func deviceCommands() []denial {
	list := []denial{
		refused(unix.SYS_IOCTL, is(1, ofKeyboard).of(plainCommand)),
		refused(unix.SYS_IOCTL, is(1, ofConsoles).of(plainCommand)),
	}
	for _, command := range []uint32{
		unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD, unix.TIOCCONS, createInput, newUserfaultfd, createMachine,
		setVhostOwner, unix.TUNSETIFF,
	} {
		list = append(list, refused(unix.SYS_IOCTL, is(1, command)))
	}
	return list
}

// contents refuses calls that reveal contents of files or names in directories. Landlock does not control them. They
// fail as on a system without these features, which programs expect. A descriptor need not be open for reading.
func contents() []denial {
	attributes := always(unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_FGETXATTR, unix.SYS_GETXATTRAT,
		unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR, unix.SYS_LISTXATTRAT)
	for i := range attributes {
		attributes[i].err = unix.EOPNOTSUPP
	}
	watches := slices.Concat(always(legacyWatches...), always(unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT))
	for i := range watches {
		watches[i].err = unix.ENOSYS
	}
	// The kernel compares with a file that is open for nothing.
	compare := denial{number: unix.SYS_IOCTL, when: []condition{is(1, unix.FIDEDUPERANGE)}, err: unix.ENOTTY}
	return slices.Concat(attributes, watches, []denial{compare})
}

// modes refuses changes of modes, owners and attributes of files, which Landlock does not control. A descriptor need
// not be open for writing. The errors for descriptors are the same as on a file system without attributes, which
// programs expect.
func modes() []denial {
	return slices.Concat(always(legacyByPath...), always(
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	), []denial{
		{number: unix.SYS_FCHMOD, err: unix.EPERM, asks: true}, {number: unix.SYS_FCHOWN, err: unix.EPERM, asks: true},
		{number: unix.SYS_FSETXATTR, err: unix.EOPNOTSUPP}, {number: unix.SYS_FREMOVEXATTR, err: unix.EOPNOTSUPP},
		// File systems have their own commands for attributes. Only these commands are needed.
		{number: unix.SYS_IOCTL, err: unix.ENOTTY, when: []condition{
			isNot(1, ofTerminals).of(anyCommand), isNot(1, ofSockets).of(anyCommand),
			isNot(1, unix.FS_IOC_GETFLAGS), isNot(1, getFSXattr), isNot(1, fileExtents),
			isNot(1, unix.FICLONE), isNot(1, unix.FICLONERANGE),
		}},
	})
}

// sockets refuses the kinds of sockets that a profile does not need. Connected pairs are permitted, unless they can be
// connected again.
func sockets(p *Profile) []denial {
	isType := func(value uint32) condition { return is(1, value).of(typeOfSockets) }
	isNoType := func(value uint32) condition { return isNot(1, value).of(typeOfSockets) }
	list := []denial{refused(unix.SYS_SOCKETPAIR, isNot(0, unix.AF_UNIX))}
	if !p.Network || !p.Process {
		list = append(list,
			refused(unix.SYS_SOCKETPAIR, isNoType(unix.SOCK_STREAM), isNoType(unix.SOCK_SEQPACKET)))
	}
	if !p.Network && len(p.Connect) == 0 {
		return append(list, refused(unix.SYS_SOCKET))
	}
	notUnix := isNot(0, unix.AF_UNIX)
	if !p.Network || !p.Process {
		list = append(list, refused(unix.SYS_SOCKET, is(0, unix.AF_UNIX)))
	}
	internet := func(more ...condition) denial {
		return refused(unix.SYS_SOCKET, append([]condition{notUnix, isNot(0, unix.AF_NETLINK)}, more...)...)
	}
	list = append(list,
		internet(isNot(0, unix.AF_INET), isNot(0, unix.AF_INET6)),
		internet(isNoType(unix.SOCK_STREAM), isNoType(unix.SOCK_DGRAM)),
		internet(isType(unix.SOCK_DGRAM), isNot(2, 0), isNot(2, unix.IPPROTO_UDP)),
		// Multipath TCP is TCP, but Landlock does not control its ports.
		internet(isType(unix.SOCK_STREAM), isNot(2, 0), isNot(2, unix.IPPROTO_TCP), isNot(2, unix.IPPROTO_MPTCP)),
		// The C library asks for the addresses of this machine.
		refused(unix.SYS_SOCKET, is(0, unix.AF_NETLINK), isNot(2, unix.NETLINK_ROUTE)))
	if p.Network {
		return list
	}
	list = append(list, refused(unix.SYS_LISTEN), internet(is(2, unix.IPPROTO_MPTCP)))
	if !slices.Contains(p.Connect, portDNS) {
		list = append(list, internet(isType(unix.SOCK_DGRAM)))
	}
	// Landlock controls only connect(2), but a send with MSG_FASTOPEN also connects.
	return append(list, refused(unix.SYS_SENDTO, has(3, unix.MSG_FASTOPEN)),
		refused(unix.SYS_SENDMSG, has(2, unix.MSG_FASTOPEN)), refused(unix.SYS_SENDMMSG, has(3, unix.MSG_FASTOPEN)))
}

func always(numbers ...uintptr) []denial {
	list := make([]denial, len(numbers))
	for i, n := range numbers {
		list[i].number = n
	}
	return list
}
