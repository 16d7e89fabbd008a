package confine

import (
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

// fioSetOwn is FIOSETOWN.
const fioSetOwn = 0x8901

// A denial is a system call that is refused: always, or when all conditions hold.
type denial struct {
	number uintptr
	when   []condition
}

// A condition is a test of one argument.
type condition struct {
	argument uint32
	test     bpf.JumpTest
	value    uint32
}

// assemble makes the filter of a profile. What it refuses says "Permission denied", so that
// programs take it for what it is. thread is the one that is confined. Where there is a
// watch, its listener decides over what would be refused.
func assemble(p *Profile, thread int, w *Watch) ([]unix.SockFilter, error) {
	refuse := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)}
	// Numbers mean something else in another ABI, so those of others do not exist (CF-23).
	foreign := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	if w != nil {
		refuse = bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}
		foreign = refuse
	}
	number := bpf.LoadAbsolute{Off: offNumber, Size: word}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: word},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		foreign,
		number,
	}
	if firstX32 > 0 {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: firstX32, SkipFalse: 1}, foreign)
	}
	if w != nil {
		program = append(program, w.instructions(refuse)...)
	}
	for _, d := range denials(p, uint32(thread)) {
		n := len(d.when)
		if n == 0 {
			program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(d.number), SkipFalse: 1}, refuse)
			continue
		}
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(d.number), SkipFalse: uint8(2*n + 2)})
		for i, c := range d.when {
			program = append(program, bpf.LoadAbsolute{Off: offArguments + 8*c.argument, Size: word},
				bpf.JumpIf{Cond: c.test, Val: c.value, SkipFalse: uint8(2*(n-i) - 1)})
		}
		program = append(program, refuse, number)
	}
	program = append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, err
	}
	return filterOf(raw), nil
}

func filterOf(raw []bpf.RawInstruction) []unix.SockFilter {
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return filter
}

// denials lists what a profile refuses (CF-20 to CF-27).
func denials(p *Profile, thread uint32) []denial {
	list := always(unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT)
	if !p.AllFiles {
		list = append(list, always(unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL)...)
	}
	if !p.AllFiles && !p.Modes {
		list = append(list, always(byPath...)...)
	}
	if !p.Process {
		// What lies in memory only is started whatever Landlock says (CF-15).
		list = append(list, always(unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
			unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_MEMFD_CREATE)...)
	}
	list = append(list, sockets(p)...)
	is := func(argument, value uint32) []condition { return []condition{{argument, bpf.JumpEqual, value}} }
	return append(list,
		// Landlock lets a script signal the thread that forked it, which would end us.
		denial{unix.SYS_KILL, is(0, thread)}, denial{unix.SYS_TKILL, is(0, thread)},
		denial{unix.SYS_TGKILL, is(1, thread)}, denial{unix.SYS_RT_SIGQUEUEINFO, is(0, thread)},
		denial{unix.SYS_RT_TGSIGQUEUEINFO, is(1, thread)}, denial{number: unix.SYS_PIDFD_SEND_SIGNAL},
		denial{unix.SYS_FCNTL, is(1, unix.F_SETOWN)}, denial{unix.SYS_FCNTL, is(1, unix.F_SETOWN_EX)},
		denial{unix.SYS_IOCTL, is(1, fioSetOwn)}, denial{unix.SYS_IOCTL, is(1, unix.SIOCSPGRP)},
		denial{unix.SYS_PRLIMIT64, []condition{{0, bpf.JumpNotEqual, 0}}})
}

// sockets are the kinds that a profile has no use for. Pairs that are connected to each
// other stay, but for those that can be connected anew.
func sockets(p *Profile) []denial {
	const (
		raw, datagram = unix.SOCK_STREAM, unix.SOCK_DGRAM // SOCK_RAW has the bits of both
		otherTypes    = 0xc                               // a bit that only other types have
	)
	pairs := denial{unix.SYS_SOCKETPAIR, []condition{{1, bpf.JumpBitsSet, datagram}}}
	if !p.Network && len(p.Connect) == 0 {
		return append(always(unix.SYS_SOCKET), pairs)
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if p.Network && p.Process {
		families = append(families, unix.AF_UNIX)
	}
	other := denial{number: unix.SYS_SOCKET}
	for _, f := range families {
		other.when = append(other.when, condition{0, bpf.JumpNotEqual, f})
	}
	// Of the internet's sockets TCP and UDP: nothing raw, and no protocol with types of its own.
	internet := func(more ...condition) denial {
		return denial{unix.SYS_SOCKET, append([]condition{
			{0, bpf.JumpNotEqual, unix.AF_UNIX}, {0, bpf.JumpNotEqual, unix.AF_NETLINK},
		}, more...)}
	}
	list := []denial{
		other, internet(condition{1, bpf.JumpBitsSet, raw}, condition{1, bpf.JumpBitsSet, datagram}),
		internet(condition{1, bpf.JumpBitsSet, otherTypes}),
	}
	if !p.Network {
		list = append(list, portsOnly(p, internet)...)
	}
	if !p.Network || !p.Process {
		list = append(list, pairs)
	}
	return list
}

// portsOnly sees that no connection passes by what Landlock knows of ports, which is the
// TCP of connect(2) (CF-17).
func portsOnly(p *Profile, internet func(...condition) denial) []denial {
	list := append(always(unix.SYS_LISTEN),
		internet(condition{2, bpf.JumpNotEqual, 0}, condition{2, bpf.JumpNotEqual, unix.IPPROTO_TCP},
			condition{2, bpf.JumpNotEqual, unix.IPPROTO_UDP}))
	if !slices.Contains(p.Connect, portDNS) {
		list = append(list, internet(condition{1, bpf.JumpBitsSet, unix.SOCK_DGRAM}))
	}
	for call, flags := range map[uintptr]uint32{unix.SYS_SENDTO: 3, unix.SYS_SENDMSG: 2, unix.SYS_SENDMMSG: 3} {
		list = append(list, denial{call, []condition{{flags, bpf.JumpBitsSet, unix.MSG_FASTOPEN}}})
	}
	return list
}

// byPath change a file's mode, owner or attributes by its path, which Landlock does not
// look at (CF-24).
var byPath = slices.Concat(legacyByPath, []uintptr{
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT,
})

func always(numbers ...uintptr) []denial {
	list := make([]denial, len(numbers))
	for i, n := range numbers {
		list[i].number = n
	}
	return list
}
