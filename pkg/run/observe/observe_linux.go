//go:build amd64 || arm64

package observe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
)

// A Session observes the processes that a thread forks.
type Session struct {
	listener int
	thread   int
	profile  *confine.Profile
	rules    *confine.Rules
	enforce  bool
	seen     map[uint32]bool // threads with reported calls

	mu     sync.Mutex
	known  map[Access]bool
	report Report
	asking map[uint32]Access // threads that may be about to look up a name
}

// Enter observes all processes that the calling thread forks from now on. It reports operations
// that the profile does not permit, as a kernel with all features would decide. With enforce, the
// kernel also confines the thread to the profile, as far as it can. Without enforce, the thread is
// only denied operations that no profile permits. The caller has locked its goroutine to the
// thread, and ends the thread on an error.
func Enter(k confine.Kernel, p *confine.Profile, enforce bool) (*Session, error) {
	s := &Session{
		thread: unix.Gettid(), profile: p, enforce: enforce, seen: map[uint32]bool{}, known: map[Access]bool{},
		asking: map[uint32]Access{},
	}
	if err := checkSizes(); err != nil {
		return nil, err
	}
	from, err := startsFrom()
	if err != nil {
		return nil, err
	}
	decide := k
	if !enforce {
		decide.ABI, decide.Signals = max(k.ABI, confine.ABIWhole), true
	}
	if s.rules, err = decide.Rules(p); err != nil {
		return nil, err
	}
	w := &confine.Watch{Calls: watched, StartsFrom: from}
	if enforce {
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

// open is the profile that permits everything that any profile can permit.
var open = confine.Profile{AllFiles: true, Network: true, Process: true, Modes: true}

// Report returns the observations so far. They are complete once the script has ended. Calls of
// surviving processes are still answered until this process ends.
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

// checkSizes checks that the kernel's structures have the expected sizes.
var checkSizes = sync.OnceValue(func() error {
	var sizes [3]uint16
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0,
		uintptr(unsafe.Pointer(&sizes))); errno != 0 {
		return fmt.Errorf("observing a script needs seccomp notifications (Linux 5.9 or newer): %w", errno)
	}
	if sizes[0] != uint16(unsafe.Sizeof(confine.Notification{})) || sizes[1] != uint16(unsafe.Sizeof(confine.Response{})) {
		return fmt.Errorf("seccomp notifications have an unknown size (%d bytes)", sizes[0])
	}
	return nil
})

// startsFrom returns the address from which this process starts programs. It also checks that the
// kernel supports observation. It does so once.
var startsFrom = sync.OnceValues(func() (from uint64, err error) {
	done := make(chan struct{})
	confine.OnThread(func() {
		defer close(done)
		from, err = confine.FindStart()
	})
	<-done
	if err != nil {
		err = fmt.Errorf("observing a script needs Linux 5.9 or newer and permission for seccomp listeners: %w", err)
	}
	return from, err
})

// serve answers calls until the thread and its processes have ended.
func (s *Session) serve() {
	defer unix.Close(s.listener) // waiting calls fail with ENOSYS
	for {
		n, _, err := confine.Receive(s.listener, -1)
		if err != nil {
			return
		}
		r := confine.Response{ID: n.ID}
		switch errno, done := s.decide(&n); {
		case errno != 0:
			r.Error = -int32(errno)
		case !done:
			r.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		confine.Respond(s.listener, r) // fails if the process was killed
	}
}

// decide records a call and returns its error. For 0 the kernel continues the call, unless done reports that the
// listener has performed it.
func (s *Session) decide(n *confine.Notification) (errno unix.Errno, done bool) {
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
	if refusal != 0 && confine.AsksFor(n.Number) && n.MayChangeModes(s.listener, s.enforce) {
		if !s.enforce {
			return 0, false
		}
		return n.ChangeModes(s.listener), true
	}
	if inspect := inspectors[number]; inspect != nil {
		inspect(c, refusal != 0)
	} else if refusal != 0 && refusal != unix.EOPNOTSUPP { // programs only try to read attributes
		c.add(Access{Kind: Call, Name: callName(number)})
	}
	if s.enforce || number != unix.SYS_SOCKET && open.Refuses(s.thread, n.Number, n.Arguments) != 0 {
		return refusal, false
	}
	return 0, false
}

// add records an access, unless its process was killed.
func (c *call) add(a Access) {
	if a.Program = c.program(); c.Waits(c.session.listener) {
		c.session.mu.Lock()
		defer c.session.mu.Unlock()
		c.session.keep(a)
	}
}

// keep adds an access to the report. The caller holds the lock.
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

// ask records a refused Unix socket, which may belong to a name lookup. The C library first asks a
// daemon and then reads files in /etc. Such refusals have no effect, and nearly every shell causes
// one.
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

// settle uses the next call of a thread to determine the purpose of a Unix socket.
func (s *Session) settle(c *call) {
	s.mu.Lock()
	_, asking := s.asking[c.Thread]
	s.mu.Unlock()
	if !asking {
		return
	}
	number := uintptr(c.Number)
	lookup := number == unix.SYS_SOCKET && c.Arguments[0] == unix.AF_UNIX // the C library asks twice
	if pointer, opens := c.opens(); opens {
		path, _ := c.text(pointer)
		lookup = strings.HasPrefix(path, "/etc/")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked(c.Thread, lookup)
}

// asked records the socket unless it belongs to a lookup. The caller holds the lock.
func (s *Session) asked(thread uint32, lookup bool) {
	if !lookup {
		s.keep(s.asking[thread])
	}
	delete(s.asking, thread)
}

func (c *call) unread() {
	if !c.Waits(c.session.listener) { // the process has ended
		return
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.report.Unread++
}

const (
	longestPath = 4096
	mostLinks   = 40 // the kernel's limit
)

// read fills b from the memory of the process, and reports whether it succeeded.
func (c *call) read(b []byte, pointer uint64) bool {
	return c.readSome(b, pointer) == len(b)
}

func (c *call) readSome(b []byte, pointer uint64) int {
	mem, err := unix.Open(fmt.Sprintf("/proc/%d/mem", c.Thread), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(mem)
	n, err := unix.Pread(mem, b, int64(pointer))
	if err != nil {
		return 0
	}
	return n
}

// text returns the string at an address. ok is false if it cannot be read.
func (c *call) text(pointer uint64) (text string, ok bool) {
	var b [longestPath]byte
	n := c.readSome(b[:], pointer)
	end := bytes.IndexByte(b[:n], 0)
	if end < 0 {
		return "", false
	}
	return string(b[:end]), true
}

func (c *call) program() string {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.Thread)); err == nil {
		return strings.TrimSuffix(filepath.Base(exe), " (deleted)")
	}
	return ""
}

type target struct {
	path   string // absolute, without links
	exists bool   // false if only its directory exists
	mode   uint32
}

// find resolves the path at an address. It returns false if the path does not exist or has no name, such as a pipe.
func (c *call) find(dir int32, pointer uint64, follow bool) (target, bool) {
	return c.findAt(dir, pointer, follow, 0)
}

// findAt is find for calls that accept the descriptor itself.
func (c *call) findAt(dir int32, pointer uint64, follow bool, flags uint64) (t target, ok bool) {
	path, ok := c.text(pointer)
	if !ok {
		c.unread()
		return t, false
	}
	if path == "" {
		if flags&unix.AT_EMPTY_PATH == 0 {
			return t, false
		}
		path = "."
	}
	return c.walk(dir, path, follow)
}

// walk resolves a path from the view of the process, with its own /proc/self and working directory.
func (c *call) walk(dir int32, path string, follow bool) (t target, ok bool) {
	at := "/"
	if !strings.HasPrefix(path, "/") {
		link := fmt.Sprintf("/proc/%d/cwd", c.Thread)
		if dir != atCWD {
			link = fmt.Sprintf("/proc/%d/fd/%d", c.Thread, dir)
		}
		var err error
		if at, err = os.Readlink(link); err != nil || !strings.HasPrefix(at, "/") {
			return t, false
		}
	}
	var st unix.Stat_t
	links, rest := 0, strings.Split(path, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		last := strings.Trim(strings.Join(rest, ""), "/") == ""
		err := unix.Lstat(next, &st)
		switch {
		case errors.Is(err, unix.ENOENT) && last:
			return target{path: next}, true
		case err != nil:
			return t, false
		case st.Mode&unix.S_IFMT != unix.S_IFLNK, last && !follow && len(rest) == 0:
			at = next
			continue
		}
		if links++; links > mostLinks {
			return t, false
		}
		to, err := c.readlink(next)
		if err != nil {
			return t, false
		}
		inProc := strings.HasPrefix(next, "/proc/")
		switch {
		case strings.HasPrefix(to, "/"):
			at = "/"
		case inProc && strings.Contains(to, ":"): // a pipe or socket
			return t, false
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	if unix.Lstat(at, &st) != nil {
		return t, false
	}
	return target{at, true, st.Mode}, true
}

// readlink reads a link from the view of the process.
func (c *call) readlink(path string) (string, error) {
	switch path {
	case "/proc/self":
		return fmt.Sprintf("/proc/%d", c.Thread), nil
	case "/proc/thread-self":
		return fmt.Sprintf("/proc/%d/task/%d", c.Thread, c.Thread), nil
	}
	return os.Readlink(path)
}
