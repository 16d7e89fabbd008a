package confine

import (
	"cmp"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where a filter finds what it judges (struct seccomp_data). Of an argument it reads the
// lower half: the kernel takes these as int too, on processors that are little endian.
const (
	offNumber    = 0
	offArch      = 4
	offArguments = 16
	word         = 4
)

// A denial is a system call that fails: always, or when all conditions are true.
type denial struct {
	number uintptr
	when   []condition
	err    unix.Errno // 0 is EACCES, which programs report as "Permission denied" (CF-25)
	asks   bool       // where there is a listener, it decides
}

// A condition is a test of one argument, or of the bits of a mask.
type condition struct {
	argument uint32
	test     bpf.JumpTest
	value    uint32
	mask     uint32 // 0: all bits
}

// error returns the error that the call fails with.
func (d *denial) error() unix.Errno { return cmp.Or(d.err, unix.EACCES) }

// assemble makes the filter of a profile. thread is the one that is confined. Where there is a
// watch, its listener decides over what would be refused. listens says that there is another one. extra is
// refused in addition.
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
		// Numbers mean something else in another ABI, so those of others do not exist (CF-23).
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

// search returns the instructions that find a call among those with denials, which are sorted by number: every
// call passes here, so it takes as few comparisons as a binary search does.
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

// instructions return what the call is refused with, or go on behind their end.
func (d *denial) instructions(refuse func(denial) bpf.RetConstant) []bpf.Instruction {
	list := []bpf.Instruction{refuse(*d)}
	for _, c := range slices.Backward(d.when) {
		test := []bpf.Instruction{bpf.LoadAbsolute{Off: offArguments + 8*c.argument, Size: word}}
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

// denials lists what a profile refuses (CF-20 to CF-27). Of several for one call the first that applies
// decides over the error.
func denials(p *Profile, thread uint32) []denial {
	list := always(unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
		unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT)
	if !p.AllFiles {
		list = append(list, always(unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL)...)
	}
	if !p.Process {
		// What lies in memory only is started whatever Landlock says (CF-15).
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

// The arguments of a denial, by their values.
func is(argument, value uint32) condition { return condition{argument, bpf.JumpEqual, value, 0} }

func isNot(argument, value uint32) condition { return condition{argument, bpf.JumpNotEqual, value, 0} }

func has(argument, bits uint32) condition { return condition{argument, bpf.JumpBitsSet, bits, 0} }

func (c condition) of(mask uint32) condition { c.mask = mask; return c }

func refused(number uintptr, when ...condition) denial { return denial{number: number, when: when} }

// signals are refused as Landlock lets a script signal the thread that forked it, which would end us (CF-21).
func signals(thread uint32) []denial {
	return []denial{
		refused(unix.SYS_KILL, is(0, thread)), refused(unix.SYS_TKILL, is(0, thread)),
		refused(unix.SYS_TGKILL, is(1, thread)), refused(unix.SYS_RT_SIGQUEUEINFO, is(0, thread)),
		refused(unix.SYS_RT_TGSIGQUEUEINFO, is(1, thread)), refused(unix.SYS_PIDFD_SEND_SIGNAL),
		refused(unix.SYS_FCNTL, is(1, unix.F_SETOWN)), refused(unix.SYS_FCNTL, is(1, unix.F_SETOWN_EX)),
		refused(unix.SYS_IOCTL, is(1, fioSetOwn)), refused(unix.SYS_IOCTL, is(1, unix.SIOCSPGRP)),
	}
}

// others change how other processes run, or groups of them. A process changes itself by the number 0 (CF-21).
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

// Constants of the kernel that package unix does not have.
const (
	fioSetOwn     = 0x8901 // FIOSETOWN
	ioprioProcess = 1      // IOPRIO_WHO_PROCESS

	newUserfaultfd = 0xaa00     // USERFAULTFD_IOC_NEW
	createInput    = 0x5501     // UI_DEV_CREATE
	createMachine  = 0xae01     // KVM_CREATE_VM
	setVhostOwner  = 0xaf01     // VHOST_SET_OWNER
	getFSXattr     = 0x801c581f // FS_IOC_FSGETXATTR
	fileExtents    = 0xc020660b // FS_IOC_FIEMAP

	anyCommand    = 0xff00     // the bits of a command that name its driver
	plainCommand  = 0xffffff00 // the same, of one without a size
	ofTerminals   = 0x5400
	ofSockets     = 0x8900
	ofKeyboard    = 0x4b00 // KD*
	ofConsoles    = 0x5600 // VT_*
	typeOfSockets = 0xf    // of an argument that has flags, too
)

// deviceCommands give by a device what is refused otherwise: typing into a terminal or at all, another handler
// of a terminal, faults of memory in user space, raw packets, machines (CF-21, CF-23).
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

// modes change modes, owners and attributes of files, which Landlock does not look at (CF-24): by path, and
// by a descriptor, which need not be open for writing. The errors of the latter are those of a file system
// that has no attributes, as programs that only try expect them.
func modes() []denial {
	return slices.Concat(always(legacyByPath...), always(
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	), []denial{
		{number: unix.SYS_FCHMOD, err: unix.EPERM, asks: true}, {number: unix.SYS_FCHOWN, err: unix.EPERM, asks: true},
		{number: unix.SYS_FSETXATTR, err: unix.EOPNOTSUPP}, {number: unix.SYS_FREMOVEXATTR, err: unix.EOPNOTSUPP},
		// Each file system has commands of its own for it; others than these are not needed.
		{number: unix.SYS_IOCTL, err: unix.ENOTTY, when: []condition{
			isNot(1, ofTerminals).of(anyCommand), isNot(1, ofSockets).of(anyCommand),
			isNot(1, unix.FS_IOC_GETFLAGS), isNot(1, getFSXattr), isNot(1, fileExtents),
			isNot(1, unix.FICLONE), isNot(1, unix.FICLONERANGE), isNot(1, unix.FIDEDUPERANGE),
		}},
	})
}

// sockets are the kinds that a profile has no use for (CF-20). Pairs that are connected to each other stay, but for
// those that can be connected anew.
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
		// Multipath TCP is TCP, but Landlock does not know its ports (CF-17).
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
	// Landlock judges connect(2), and this is without.
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
