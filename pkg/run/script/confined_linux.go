package script

import (
	"cmp"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
)

// Confinements are kept for a while after their last script, as most are used
// again; those that run scripts are as many as the scripts at most.
const (
	idleConfinements = 16
	idleFor          = 30 * time.Second
)

// enter confines a thread; tests have it fail.
var enter = confine.Kernel.Enter

// confinements are the confined threads of a runner, by what they are held to.
type confinements struct {
	mu    sync.Mutex
	byKey map[string]*confinement
	timer *time.Timer // of the next sweep, nil when none is due
}

// A confinement is a thread that was confined once and forks every script that is to be
// held to the same. It lives until nobody uses it, as the death of the thread is the death of
// the scripts that it forked (sysproc_linux.go).
//
// It is woken, and answers, by pipes and not by channels: Go would wake a thread more for
// each, on a processor that the script is to start on.
type confinement struct {
	key   string        // "" for one that is not shared
	wake  pipe          // a byte for each time that there is something to do
	work  chan *request // never full
	spare chan pipe     // for answers
	ready chan struct{} // closed when the thread is confined, or cannot be
	err   error         // why it cannot be

	thread int       // its number
	users  int       // the lock of confinements is held for these
	since  time.Time // when the last user left
}

// maxUsers bounds the users of one confinement, above what a server runs at once.
const maxUsers = 4096

// A request is something to be done on the thread.
type request struct {
	do   func()
	done pipe // a byte when it is done
}

// A Confined is the use of a confinement, for [Spec]. It is released when the script has
// ended.
type Confined struct {
	runner *Runner
	c      *confinement
}

// Confine returns what scripts are started in that are to be held to a profile, as far as
// the kernel can (CF-4). It fails when any step of it fails: nothing is confined by half.
func (r *Runner) Confine(k confine.Kernel, p *confine.Profile) (*Confined, error) {
	all, key := &r.confined, strconv.Itoa(k.ABI)+p.Key()
	all.mu.Lock()
	c := all.byKey[key]
	if c == nil {
		var err error
		if c, err = newConfinement(key); err != nil {
			all.mu.Unlock()
			return nil, err
		}
		if all.byKey == nil {
			all.byKey = map[string]*confinement{}
		}
		all.byKey[key] = c
		go c.live(func() error { return enter(k, p) })
	}
	if c.users == maxUsers {
		all.mu.Unlock()
		return nil, errors.New("too many scripts at once")
	}
	c.users++
	all.mu.Unlock()
	<-c.ready
	if c.err == nil {
		return &Confined{r, c}, nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byKey[key] == c { // the next one tries again
		delete(all.byKey, key)
	}
	return nil, c.err
}

func newConfinement(key string) (*confinement, error) {
	c := &confinement{
		key: key, work: make(chan *request, maxUsers), spare: make(chan pipe, 16), ready: make(chan struct{}),
	}
	return c, c.wake.open()
}

// Prepared returns a thread of its own to start a script on, once a function has prepared it. It ends
// when it is released, or when that fails.
func (r *Runner) Prepared(prepare func() error) (*Confined, error) {
	c, err := newConfinement("")
	if err != nil {
		return nil, err
	}
	c.users = 1
	go c.live(prepare)
	<-c.ready
	if c.err != nil {
		return nil, c.err
	}
	return &Confined{r, c}, nil
}

// Release says that the script has ended.
func (u *Confined) Release() {
	all := &u.runner.confined
	all.mu.Lock()
	defer all.mu.Unlock()
	if u.c.users--; u.c.users > 0 {
		return
	}
	if u.c.key == "" { // nobody else can use it
		u.c.wake.hangUp()
		return
	}
	u.c.since = time.Now()
	all.sweep(idleFor)
	if all.timer == nil {
		all.plan(idleFor)
	}
}

// plan has the idle ones looked at later. The lock is held.
func (all *confinements) plan(after time.Duration) {
	all.timer = time.AfterFunc(after, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.timer = nil
		if all.sweep(idleFor) {
			all.plan(idleFor)
		}
	})
}

// sweep ends the threads that were idle for long, and the longest idle ones of too many. It
// reports whether idle ones are left. The lock is held.
func (all *confinements) sweep(long time.Duration) (left bool) {
	for {
		var oldest *confinement
		idle := 0
		for _, c := range all.byKey {
			if c.users > 0 {
				continue
			}
			idle++
			if oldest == nil || c.since.Before(oldest.since) {
				oldest = c
			}
		}
		if oldest == nil || idle <= idleConfinements && time.Since(oldest.since) < long {
			return idle > 0
		}
		delete(all.byKey, oldest.key)
		oldest.wake.hangUp()
	}
}

// live is the life of a confined thread: Go ends it when the goroutine that is locked to it
// returns.
func (c *confinement) live(prepare func() error) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The first thread stands for the process, and cannot be ended. While we are locked to it, the
		// next goroutine gets another.
		next := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(next)
			c.prepared(prepare)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	c.prepared(prepare)
}

func (c *confinement) prepared(prepare func() error) {
	defer c.end()
	c.thread = unix.Gettid()
	c.err = prepare()
	close(c.ready)
	if c.err != nil {
		return
	}
	for c.wake.receive() {
		r := <-c.work
		r.do()
		r.done.send()
	}
}

// end closes what the thread was woken by, and the answers. Whoever ended it has hung up; nobody
// does when it never was ready.
func (c *confinement) end() {
	if unix.Close(c.wake[0]); c.err != nil {
		c.wake.hangUp()
	}
	for {
		select {
		case p := <-c.spare:
			p.close()
		default:
			return
		}
	}
}

// forkExec starts a program, on the thread of what it is to be held to. Without confinement
// that is any thread.
func (u *Confined) forkExec(program string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	if u == nil {
		return syscall.ForkExec(program, argv, attr)
	}
	if asked := u.c.run(func() { pid, err = syscall.ForkExec(program, argv, attr) }); asked != nil {
		return 0, asked
	}
	return pid, err
}

// OpenRegular opens a regular file for reading, as what the scripts may read: the kernel decides. The
// path is absolute; no link on it is followed.
func (u *Confined) OpenRegular(path string) (*os.File, error) {
	fd := -1
	var err error
	how := unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: unix.RESOLVE_NO_SYMLINKS,
	}
	asked := u.c.run(func() { fd, err = unix.Openat2(unix.AT_FDCWD, path, &how) })
	if err = cmp.Or(asked, err); err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: unix.EINVAL}
	}
	return f, nil
}

// run does something on the thread. The error is why it could not be asked to.
func (c *confinement) run(do func()) error {
	r := &request{do: do}
	select {
	case r.done = <-c.spare:
	default:
		if err := r.done.open(); err != nil {
			return err
		}
	}
	c.work <- r
	c.wake.send()
	r.done.receive()
	select {
	case c.spare <- r.done:
	default:
		r.done.close()
	}
	return nil
}

// A pipe wakes a thread that waits in the kernel.
type pipe [2]int

func (p *pipe) open() error { return unix.Pipe2(p[:], unix.O_CLOEXEC) }

// send wakes the other end once.
func (p *pipe) send() {
	for {
		if _, err := unix.Write(p[1], []byte{0}); err != unix.EINTR {
			return
		}
	}
}

// receive waits until the other end sends. It reports false after hangUp.
func (p *pipe) receive() bool {
	var b [1]byte
	for {
		if n, err := unix.Read(p[0], b[:]); err != unix.EINTR {
			return n == 1
		}
	}
}

// hangUp ends what waits at the other end, which closes that.
func (p *pipe) hangUp() { unix.Close(p[1]) }

func (p *pipe) close() {
	unix.Close(p[0])
	unix.Close(p[1])
}
