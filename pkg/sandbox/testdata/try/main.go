// Try is what the scripts of TestEscapes try that takes system calls of their own. It fails
// where the system refuses.
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if err := tricks[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tricks are attempts that take system calls of their own.
var tricks = map[string]func() error{
	"xattr": func() error {
		if err := unix.Removexattr(os.Args[2], "user.none"); err == unix.EACCES {
			return err
		}
		return nil
	},
	"ls":         func() error { _, err := os.ReadDir(os.Args[2]); return err },
	"cp":         func() error { return copyFile(os.Args[2], os.Args[3]) },
	"mv":         func() error { return os.Rename(os.Args[2], os.Args[3]) },
	"ln":         func() error { return os.Link(os.Args[2], os.Args[3]) },
	"symlink":    func() error { return os.Symlink(os.Args[2], os.Args[3]) },
	"rm":         func() error { return os.Remove(os.Args[2]) },
	"mkdir":      func() error { return os.Mkdir(os.Args[2], 0o755) },
	"mkfifo":     func() error { return unix.Mkfifo(os.Args[2], 0o600) },
	"truncate":   func() error { return os.Truncate(os.Args[2], 3) },
	"chmod":      func() error { return os.Chmod(os.Args[2], 0o755) },
	"readlink":   func() error { _, err := os.Readlink(os.Args[2]); return err },
	"prlimit":    func() error { return unix.Prlimit(server(), unix.RLIMIT_NOFILE, nil, &unix.Rlimit{}) },
	"memfd":      memfd,
	"sctp":       func() error { return socketOf(unix.AF_INET, unix.SOCK_SEQPACKET, 132) },
	"mptcp":      func() error { return socketOf(unix.AF_INET, unix.SOCK_STREAM, 262) },
	"fastopen":   fastOpen,
	"tcp":        func() error { return connect("tcp", "127.0.0.1:"+os.Getenv("PORT")) },
	"udp":        func() error { return connect("udp", "127.0.0.1:"+os.Getenv("PORT")) },
	"unix":       func() error { return connect("unix", os.Getenv("SCENE")+"/socket") },
	"abstract":   func() error { return connect("unix", "@"+os.Getenv("SCENE")) },
	"listen":     func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
	"netlink":    func() error { return socket(unix.AF_NETLINK, unix.SOCK_RAW) },
	"raw":        func() error { return socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC) },
	"packet":     func() error { return socket(unix.AF_PACKET, unix.SOCK_RAW) },
	"vsock":      func() error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM) },
	"alg":        func() error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET) },
	"pair":       func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
	"streampair": func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"x32":        func() error { return call(0x40000000|unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) },
	"uring": func() error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	},
	"bpf": func() error { var attr [128]byte; return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 128) },
	"perf": func() error {
		var attr [128]byte
		return call(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), 0, 0)
	},
	"userfault": func() error { return call(unix.SYS_USERFAULTFD, 1, 0, 0) },
	"keyring":   func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err },
	"mount":     mount,
	"threads": func() error {
		return eachThread(func(tid int) error {
			return anyOf(unix.Kill(tid, 0), call(unix.SYS_TKILL, uintptr(tid), 0, 0),
				unix.Tgkill(server(), tid, 0))
		})
	},
	"pidfd": func() error {
		return eachThread(func(tid int) error {
			fd, err := unix.PidfdOpen(tid, unix.O_EXCL) // PIDFD_THREAD
			if err != nil {
				fd, err = unix.Open("/proc/"+strconv.Itoa(tid), unix.O_DIRECTORY|unix.O_RDONLY, 0)
			}
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.PidfdSendSignal(fd, 0, nil, 0)
		})
	},
	"owner": func() error {
		var pipe [2]int
		if err := unix.Pipe(pipe[:]); err != nil {
			return err
		}
		return eachThread(func(tid int) error {
			_, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETOWN, tid)
			return err
		})
	},
	"trace": func() error { return eachThread(unix.PtraceSeize) },
	"memory": func() error {
		return eachThread(func(tid int) error {
			var b [1]byte
			_, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
			if err == unix.EFAULT { // it was looked at
				return nil
			}
			return err
		})
	},
	"memoryfile": func() error {
		return eachThread(func(tid int) error {
			_, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
			return err
		})
	},
}

func server() int { pid, _ := strconv.Atoi(os.Getenv("SERVER")); return pid }

// eachThread does something to each thread of the server until it succeeds.
func eachThread(do func(tid int) error) error {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%s/task", os.Getenv("SERVER")))
	if err != nil {
		return err
	}
	for _, e := range list {
		tid, _ := strconv.Atoi(e.Name())
		if err = do(tid); err == nil {
			return nil
		}
	}
	return err
}

func anyOf(errs ...error) error {
	for _, err := range errs {
		if err == nil {
			return nil
		}
	}
	return errs[0]
}

// call makes a system call, and fails when that is refused; whether it does anything
// with such arguments is another question.
func call(number, a, b, c uintptr) error {
	switch _, _, errno := unix.Syscall(number, a, b, c); errno {
	case unix.EACCES, unix.ENOSYS, unix.EPERM, unix.ESRCH:
		return errno
	}
	return nil
}

func mount() error {
	dir := os.Getenv("PRIVATE") + "/sub"
	if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	return unix.Unmount(dir, 0)
}

func connect(network, address string) error { _, err := net.Dial(network, address); return err }

func socket(family, kind int) error { return socketOf(family, kind, 0) }

// socketOf fails when a socket is refused; whether the kernel knows the protocol is another
// question.
func socketOf(family, kind, protocol int) error {
	_, err := unix.Socket(family, kind, protocol)
	switch err {
	case unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EAFNOSUPPORT, unix.ENOPROTOOPT:
		return nil
	}
	return err
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}

// memfd starts a program that lies in memory only.
func memfd() error {
	fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(os.Getenv("TRY"))
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, content); err != nil {
		return err
	}
	return unix.Exec("/proc/self/fd/"+strconv.Itoa(fd), []string{"try", "ls", "/proc/self"}, os.Environ())
}

// fastOpen connects with the first bytes that it sends, so without connect(2).
func fastOpen() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	port, _ := strconv.Atoi(os.Getenv("PORT"))
	return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}
