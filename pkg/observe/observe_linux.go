//go:build amd64 || arm64

package observe

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/confine"
)

// A Session observes what a thread forks.
type Session struct {
	listener int
	thread   int
	profile  *confine.Profile
	rules    *confine.Rules
	hold     bool
	seen     map[uint32]bool // threads that were told of

	mu     sync.Mutex
	known  map[Access]bool
	report Report
	asking map[uint32]Access // threads that may be about to look up a name
}

// Enter has observed what the calling thread forks from now on: what the profile does not
// allow is reported. With hold, the kernel holds the thread to the profile as well, as far as it can;
// without, it may do what it likes, but for what nothing that is confined may, and what a kernel
// would refuse that can hold everything is reported. The caller has locked its
// goroutine to the thread, and ends the thread when there is an error.
func Enter(k confine.Kernel, p *confine.Profile, hold bool) (*Session, error) {
	s := &Session{
		thread: unix.Gettid(), profile: p, hold: hold, seen: map[uint32]bool{}, known: map[Access]bool{},
		asking: map[uint32]Access{},
	}
	if _, err := exchangeSizes(); err != nil {
		return nil, err
	}
	from, err := startsFrom()
	if err != nil {
		return nil, err
	}
	judge := k
	if !hold {
		judge.ABI, judge.Signals = max(k.ABI, confine.ABIWhole), true
	}
	if s.rules, err = judge.Rules(p); err != nil {
		return nil, err
	}
	w := &confine.Watch{Calls: watched, StartsFrom: from}
	if hold {
		s.listener, err = k.EnterWatched(p, w)
	} else {
		s.listener, err = w.Enter(k, p)
	}
	if err != nil {
		return nil, err
	}
	go s.serve()
	return s, nil
}

// open is the profile that allows all that any does.
var open = confine.Profile{AllFiles: true, Network: true, Process: true, Modes: true}

// Report returns what was observed so far. Of a script that has ended this is all; what it left running
// is served further on, until we end.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	for thread := range s.asking {
		s.asked(thread, false)
	}
	r := s.report
	r.Accesses = append([]Access(nil), r.Accesses...)
	return r
}

// A notification is a system call that waits for us (struct seccomp_notif).
type notification struct {
	id          uint64
	thread      uint32
	flags       uint32
	number      int32
	arch        uint32
	instruction uint64
	arguments   [6]uint64
}

// A response lets it go on, or fail (struct seccomp_notif_resp).
type response struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// exchangeSizes checks that the kernel's structures are as long as ours.
var exchangeSizes = sync.OnceValues(func() (struct{}, error) {
	var sizes [3]uint16
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0,
		uintptr(unsafe.Pointer(&sizes))); errno != 0 {
		return struct{}{}, fmt.Errorf("this kernel does not tell of system calls, which it takes to observe a script; "+
			"Linux 5.9 does: %w", errno)
	}
	if sizes[0] != uint16(unsafe.Sizeof(notification{})) || sizes[1] != uint16(unsafe.Sizeof(response{})) {
		return struct{}{}, fmt.Errorf("this kernel tells of system calls in an unknown form (%d bytes)", sizes[0])
	}
	return struct{}{}, nil
})

// startsFrom finds out once where this process starts programs from, and with it whether the
// kernel does what we need at all.
var startsFrom = sync.OnceValues(func() (from uint64, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and ends it
		if unix.Gettid() == os.Getpid() {
			next := make(chan struct{})
			go func() {
				defer close(next)
				runtime.LockOSThread()
				from, err = confine.FindStart(receiveStart)
			}()
			<-next
			runtime.UnlockOSThread()
			return
		}
		from, err = confine.FindStart(receiveStart)
	}()
	<-done
	if err != nil {
		err = fmt.Errorf("a script cannot be observed here: it takes Linux 5.9 and a surrounding, such as a container, "+
			"that allows seccomp listeners: %w", err)
	}
	return from, err
})

func receiveStart(listener int) (uint64, error) {
	n, err := receive(listener)
	if err == nil {
		err = respond(listener, response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
	}
	return n.instruction, err
}

// receive waits for a notification; unix.ECHILD when nobody is left who could send one.
func receive(listener int) (n notification, err error) {
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return n, err
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return n, unix.ECHILD
		}
		n = notification{}
		switch err := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); {
		case err == nil:
			return n, nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOENT): // ENOENT: its process was killed
			return n, err
		}
	}
}

func respond(listener int, r response) error {
	for {
		err := control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func control(listener int, request uintptr, value unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), request, uintptr(value)); errno != 0 {
		return errno
	}
	return nil
}

// serve answers until the thread and all that it forked are gone.
func (s *Session) serve() {
	defer unix.Close(s.listener) // what still waits fails with ENOSYS
	for {
		n, err := receive(s.listener)
		if err != nil {
			return
		}
		r := response{id: n.id}
		if errno := s.judge(&n); errno != 0 {
			r.err = -int32(errno)
		} else {
			r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		respond(s.listener, r) // fails when its process was killed
	}
}

// judge notes what a call does, and returns the error that it fails with, 0 when it goes on.
func (s *Session) judge(n *notification) unix.Errno {
	c := &call{session: s, notification: n}
	if len(s.seen) < mostAccesses {
		s.seen[n.thread] = true
	}
	s.settle(c)
	if confine.Foreign(n.arch, n.number) {
		c.add(Access{Kind: Call, Name: "a system call of another ABI"})
		return unix.ENOSYS
	}
	number, refusal := uintptr(n.number), s.profile.Refuses(s.thread, n.number, n.arguments)
	if inspect := inspectors[number]; inspect != nil {
		inspect(c, refusal != 0)
	} else if refusal != 0 {
		c.add(Access{Kind: Call, Name: callName(number)})
	}
	if s.hold || number != unix.SYS_SOCKET && open.Refuses(s.thread, n.number, n.arguments) != 0 {
		return refusal
	}
	return 0
}

// add notes an access, unless its call is no more.
func (c *call) add(a Access) {
	if a.Program = c.program(); c.valid() {
		c.session.mu.Lock()
		defer c.session.mu.Unlock()
		c.session.keep(a)
	}
}

// valid reports whether the call still waits: else what was read of its process may be another's.
func (c *call) valid() bool {
	id := c.id
	return control(c.session.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// keep adds to the report. The lock is held.
func (s *Session) keep(a Access) {
	switch {
	case s.known[a]:
	case len(s.report.Accesses) >= mostAccesses:
		s.report.Dropped++
	default:
		s.known[a] = true
		s.report.Accesses = append(s.report.Accesses, a)
	}
}

// ask notes that a Unix socket was refused, which may belong to a lookup of names: the C library asks
// its daemon first, and goes on with files of /etc when there is none. Such a refusal matters to nobody, and
// nearly every shell meets it.
func (c *call) ask(a Access) {
	if a.Program = c.program(); c.valid() {
		c.session.mu.Lock()
		defer c.session.mu.Unlock()
		if len(c.session.asking) < mostAccesses {
			c.session.asking[c.thread] = a
		} else {
			c.session.keep(a)
		}
	}
}

// settle finds out by the next call of a thread what it wanted a Unix socket for.
func (s *Session) settle(c *call) {
	s.mu.Lock()
	_, asking := s.asking[c.thread]
	s.mu.Unlock()
	if !asking {
		return
	}
	number := uintptr(c.number)
	lookup := number == unix.SYS_SOCKET && c.arguments[0] == unix.AF_UNIX // it asks twice
	if pointer, opens := c.opens(); opens {
		path, _ := c.text(pointer)
		lookup = strings.HasPrefix(path, "/etc/")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked(c.thread, lookup)
}

// asked ends the doubt about a thread. The lock is held.
func (s *Session) asked(thread uint32, lookup bool) {
	if !lookup {
		s.keep(s.asking[thread])
	}
	delete(s.asking, thread)
}

func (c *call) unread() {
	if !c.valid() { // its process was ended
		return
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.report.Unread++
}
