//go:build amd64 || arm64

package fork

import (
	"math"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A start has everything that a new process needs. The process shares the memory of this one until it runs its
// program, and must not allocate.
type start struct {
	program, dir *byte // dir may be nil
	argv, envv   []*byte
	files        []int // the process's files 0, 1, …; -1: closed
	owned        []int // descriptors that the group of the process owns
	mark         uint64
	session      bool
	death        syscall.Signal
	parent       uintptr
	limit        *unix.Rlimit // of open files; nil: as here
	flags        uintptr
	pidfd        int32
	report       int // where an error is written; closed by exec
}

// Exec starts a program like [syscall.ForkExec]. Its process group becomes the owner (F_SETOWN) of the descriptors
// before the program runs. The upper halves of the arguments of that call, which the kernel ignores, have the bits of
// mark. Of attr.Sys it obeys Setsid, Setpgid, Pdeathsig and PidFD. One of the first two is set.
func Exec(program string, argv []string, attr *syscall.ProcAttr, owned []int, mark uint64) (pid int, err error) {
	s := &start{
		owned: owned, mark: mark, session: attr.Sys.Setsid, death: attr.Sys.Pdeathsig, limit: limit(), pidfd: -1,
		parent: uintptr(syscall.Getpid()), flags: unix.CLONE_VFORK | unix.CLONE_VM | uintptr(unix.SIGCHLD),
	}
	if attr.Sys.PidFD != nil {
		s.flags |= unix.CLONE_PIDFD
	}
	if err := s.texts(program, argv, attr); err != nil {
		return 0, err
	}
	s.files = make([]int, len(attr.Files))
	for i, fd := range attr.Files {
		s.files[i] = int(fd)
	}
	var report [2]int
	syscall.ForkLock.Lock()
	if err := unix.Pipe2(report[:], unix.O_CLOEXEC); err != nil {
		syscall.ForkLock.Unlock()
		return 0, err
	}
	s.report = report[1]
	pid, err = s.fork()
	syscall.ForkLock.Unlock()
	unix.Close(report[1])
	if err == nil {
		if err = failure(report[0]); err != nil {
			collect(pid)
		}
	}
	unix.Close(report[0])
	switch {
	case err != nil && s.pidfd >= 0:
		unix.Close(int(s.pidfd))
	case err == nil && attr.Sys.PidFD != nil:
		*attr.Sys.PidFD = int(s.pidfd)
	}
	runtime.KeepAlive(s)
	return pid, err
}

// texts converts the texts of a start.
func (s *start) texts(program string, argv []string, attr *syscall.ProcAttr) (err error) {
	if s.program, err = unix.BytePtrFromString(program); err != nil {
		return err
	}
	if attr.Dir != "" {
		if s.dir, err = unix.BytePtrFromString(attr.Dir); err != nil {
			return err
		}
	}
	if s.argv, err = syscall.SlicePtrFromStrings(argv); err != nil {
		return err
	}
	s.envv, err = syscall.SlicePtrFromStrings(attr.Env)
	return err
}

// failure returns the error that a process has written before it ran its program.
func failure(report int) error {
	var b [unsafe.Sizeof(syscall.Errno(0))]byte
	for {
		n, err := unix.Read(report, b[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == len(b):
			return *(*syscall.Errno)(unsafe.Pointer(&b))
		}
		return nil
	}
}

// collect waits for the end of a process, and collects its status.
func collect(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// limit returns the limit on open files for programs; nil: the limit of this process. Go raises the limit of this
// process at the start. It restores the first limit for programs, unless the limit was changed since.
func limit() *unix.Rlimit {
	var now unix.Rlimit
	first := firstLimit()
	if first == nil || unix.Getrlimit(unix.RLIMIT_NOFILE, &now) != nil || now.Cur != first.Max-1 || now.Max != first.Max {
		return nil
	}
	return first
}

// firstLimit returns the limit on open files that this process had before Go raised it, or nil if it did not. The first
// caller may be a confined thread, which cannot ask. A new goroutine runs on another thread.
var firstLimit = sync.OnceValue(func() *unix.Rlimit {
	first := make(chan *unix.Rlimit)
	go func() { first <- askFirstLimit() }()
	return <-first
})

// askFirstLimit computes the value of [firstLimit]. Only Go knows the limit, so askFirstLimit asks a process that Go
// starts. That must be no Go program, which would raise the limit again.
func askFirstLimit() *unix.Rlimit {
	var now, first unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Cur != now.Max-1 {
		return nil
	}
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/usr/bin/bash"} {
		pid, err := syscall.ForkExec(shell, []string{shell, "-c", ":"}, &syscall.ProcAttr{})
		if err != nil {
			continue
		}
		err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &first) // also after its end
		unix.Kill(pid, unix.SIGKILL)
		if collect(pid); err == nil {
			return &first
		}
	}
	return nil
}

// The runtime has these for packages that fork.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// vfork makes a process that shares the memory and the stack of this one, while this thread waits. It returns 0 in the
// new process, and then its number, or a negative error number, in this one.
func vfork(flags uintptr, pidfd *int32) uintptr

// fork starts the process.
func (s *start) fork() (pid int, err error) {
	r := s.run()
	afterFork()
	if r > math.MaxUint-4096 {
		return 0, syscall.Errno(-r)
	}
	return int(r), nil
}

// run makes the process and, in it, prepares and runs the program. The new process never leaves this function, because
// the stack of the caller belongs to the waiting thread. Until it runs its program, it may only make system calls.
//
//go:noinline
//go:norace
//go:nocheckptr
func (s *start) run() uintptr {
	var (
		r, i, most uintptr
		e          syscall.Errno
	)
	beforeFork() // from here on, no function may need more stack
	if r = vfork(s.flags, &s.pidfd); r != 0 {
		return r
	}
	if s.session {
		_, _, e = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	} else {
		_, _, e = syscall.RawSyscall(unix.SYS_SETPGID, 0, 0, 0)
	}
	if e != 0 {
		goto failed
	}
	r, _, _ = syscall.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
	for i = 0; i < uintptr(len(s.owned)); i++ {
		syscall.RawSyscall(unix.SYS_FCNTL, uintptr(s.owned[i])|uintptr(s.mark>>32<<32), unix.F_SETOWN,
			uintptr(uint32(-r))|uintptr(s.mark<<32))
	}
	afterForkInChild()

	if s.dir != nil {
		if _, _, e = syscall.RawSyscall(unix.SYS_CHDIR, uintptr(unsafe.Pointer(s.dir)), 0, 0); e != 0 {
			goto failed
		}
	}
	if s.death != 0 {
		if _, _, e = syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(s.death), 0); e != 0 {
			goto failed
		}
		if i, _, _ = syscall.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); i != s.parent { // it ended before
			syscall.RawSyscall(unix.SYS_KILL, r, uintptr(s.death), 0)
		}
	}

	// First move the files to numbers that no file needs, with close-on-exec. Then move each to its own number.
	most = max(uintptr(len(s.files)), 3)
	if uintptr(s.report) < most {
		if r, _, e = syscall.RawSyscall(unix.SYS_FCNTL, uintptr(s.report), unix.F_DUPFD_CLOEXEC, most); e != 0 {
			goto failed
		}
		s.report = int(r)
	}
	for i = 0; i < uintptr(len(s.files)); i++ {
		if s.files[i] < 0 || uintptr(s.files[i]) >= most {
			continue
		}
		if r, _, e = syscall.RawSyscall(unix.SYS_FCNTL, uintptr(s.files[i]), unix.F_DUPFD_CLOEXEC, most); e != 0 {
			goto failed
		}
		s.files[i] = int(r)
	}
	for i = 0; i < most; i++ {
		if i >= uintptr(len(s.files)) || s.files[i] < 0 {
			syscall.RawSyscall(unix.SYS_CLOSE, i, 0, 0)
		} else if _, _, e = syscall.RawSyscall(unix.SYS_DUP3, uintptr(s.files[i]), i, 0); e != 0 {
			goto failed
		}
	}
	if s.limit != nil {
		syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(s.limit)), 0, 0, 0)
	}
	_, _, e = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(s.program)),
		uintptr(unsafe.Pointer(&s.argv[0])), uintptr(unsafe.Pointer(&s.envv[0])))

failed:
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(s.report), uintptr(unsafe.Pointer(&e)), unsafe.Sizeof(e))
	for {
		syscall.RawSyscall(unix.SYS_EXIT, 253, 0, 0)
	}
}
