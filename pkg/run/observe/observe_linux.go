//go:build amd64 || arm64

package observe

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
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

// exchangeSizes checks that the kernel's structures are as long as ours.
var exchangeSizes = sync.OnceValues(func() (struct{}, error) {
	var sizes [3]uint16
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0,
		uintptr(unsafe.Pointer(&sizes))); errno != 0 {
		return struct{}{}, fmt.Errorf("this kernel does not tell of system calls, which it takes to observe a script; "+
			"Linux 5.9 does: %w", errno)
	}
	if sizes[0] != uint16(unsafe.Sizeof(confine.Notification{})) || sizes[1] != uint16(unsafe.Sizeof(confine.Response{})) {
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
	n, _, err := confine.Receive(listener, -1)
	if err == nil {
		err = confine.Respond(listener, confine.Response{ID: n.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
	}
	return n.Instruction, err
}

// serve answers until the thread and all that it forked are gone.
func (s *Session) serve() {
	defer unix.Close(s.listener) // what still waits fails with ENOSYS
	for {
		n, _, err := confine.Receive(s.listener, -1)
		if err != nil {
			return
		}
		r := confine.Response{ID: n.ID}
		switch errno, done := s.judge(&n); {
		case errno != 0:
			r.Error = -int32(errno)
		case !done:
			r.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		confine.Respond(s.listener, r) // fails when its process was killed
	}
}

// judge notes what a call does, and returns the error that it fails with; for 0 it goes on, unless it was done for
// the process.
func (s *Session) judge(n *confine.Notification) (errno unix.Errno, done bool) {
	c := &call{session: s, Notification: n}
	if len(s.seen) < mostAccesses {
		s.seen[n.Thread] = true
	}
	s.settle(c)
	if confine.Foreign(n.Arch, n.Number) {
		c.add(Access{Kind: Call, Name: "a system call of another ABI"})
		return unix.ENOSYS, false
	}
	number, refusal := uintptr(n.Number), s.profile.Refuses(s.thread, n.Number, n.Arguments)
	if refusal != 0 && confine.AsksFor(n.Number) && n.MayChangeModes(s.listener) {
		if !s.hold {
			return 0, false
		}
		return n.ChangeModes(s.listener), true
	}
	if inspect := inspectors[number]; inspect != nil {
		inspect(c, refusal != 0)
	} else if refusal != 0 {
		c.add(Access{Kind: Call, Name: callName(number)})
	}
	if s.hold || number != unix.SYS_SOCKET && open.Refuses(s.thread, n.Number, n.Arguments) != 0 {
		return refusal, false
	}
	return 0, false
}

// add notes an access, unless its call is no more.
func (c *call) add(a Access) {
	if a.Program = c.program(); c.Waits(c.session.listener) {
		c.session.mu.Lock()
		defer c.session.mu.Unlock()
		c.session.keep(a)
	}
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
	if a.Program = c.program(); c.Waits(c.session.listener) {
		c.session.mu.Lock()
		defer c.session.mu.Unlock()
		if len(c.session.asking) < mostAccesses {
			c.session.asking[c.Thread] = a
		} else {
			c.session.keep(a)
		}
	}
}

// settle finds out by the next call of a thread what it wanted a Unix socket for.
func (s *Session) settle(c *call) {
	s.mu.Lock()
	_, asking := s.asking[c.Thread]
	s.mu.Unlock()
	if !asking {
		return
	}
	number := uintptr(c.Number)
	lookup := number == unix.SYS_SOCKET && c.Arguments[0] == unix.AF_UNIX // it asks twice
	if pointer, opens := c.opens(); opens {
		path, _ := c.text(pointer)
		lookup = strings.HasPrefix(path, "/etc/")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked(c.Thread, lookup)
}

// asked ends the doubt about a thread. The lock is held.
func (s *Session) asked(thread uint32, lookup bool) {
	if !lookup {
		s.keep(s.asking[thread])
	}
	delete(s.asking, thread)
}

func (c *call) unread() {
	if !c.Waits(c.session.listener) { // its process was ended
		return
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.report.Unread++
}
