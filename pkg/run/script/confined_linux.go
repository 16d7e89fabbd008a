package script

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script/internal/fork"
)

// Limits for confinements without scripts, which are kept because most of them are used again.
// Confinements that run scripts are limited by the number of scripts.
const (
	idleConfinements = 16
	idleFor          = 30 * time.Second
)

// enter confines a thread. Tests replace it.
var enter = confine.Kernel.Enter

// confinements are the confined threads of a runner, by their key.
type confinements struct {
	mu      sync.Mutex
	byKey   map[string]*confinement
	timer   *time.Timer  // timer of the next sweep, or nil
	threads atomic.Int64 // also those that are not in byKey
}

// A confinement is a thread that was confined once and forks every script with that confinement. It ends only when it
// has no users, because the kernel kills the scripts of a thread that ends (system_linux.go).
//
// Requests use pipes and not channels: a channel would make Go wake another thread, on the
// processor where the script is about to start.
type confinement struct {
	key   string        // "" for a confinement that is not shared
	wake  pipe          // one byte for each request
	work  chan *request // never full
	spare chan pipe     // pipes for responses
	ready chan struct{} // closed after the attempt to confine the thread
	err   error         // why the thread cannot be confined

	thread  int           // thread id
	threads *atomic.Int64 // of all confinements
	users   int           // guarded by the lock of confinements
	since   time.Time     // time when the last user left
}

// maxUsers limits the users of one confinement. Servers run fewer scripts at once.
const maxUsers = 4096

type request struct {
	do   func()
	done pipe // one byte when the function has returned
}

// A Confined is one use of a confinement, for [Spec]. The caller must release it when the script has ended.
type Confined struct {
	runner *Runner
	c      *confinement
}

// Confine returns a confinement for scripts with this profile, as far as the kernel supports it. If any step fails, it
// returns an error.
func (r *Runner) Confine(k confine.Kernel, p *confine.Profile) (*Confined, error) {
	all, key := &r.confined, strconv.Itoa(k.ABI)+p.Key()
	all.mu.Lock()
	c := all.byKey[key]
	if c == nil {
		var err error
		if c, err = all.newConfinement(key); err != nil {
			all.mu.Unlock()
			return nil, err
		}
		if all.byKey == nil {
			all.byKey = map[string]*confinement{}
		}
		all.byKey[key] = c
		confine.OnThread(func() { c.serve(func() error { return enter(k, p) }) })
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
	if all.byKey[key] == c { // the next caller tries again
		delete(all.byKey, key)
	}
	return nil, c.err
}

func (all *confinements) newConfinement(key string) (*confinement, error) {
	c := &confinement{
		key: key, threads: &all.threads, work: make(chan *request, maxUsers), spare: make(chan pipe, 16),
		ready: make(chan struct{}),
	}
	return c, c.wake.open()
}

// Prepared returns a new thread for one script, after prepare has run on it. The thread ends when
// it is released, or if prepare fails.
func (r *Runner) Prepared(prepare func() error) (*Confined, error) {
	c, err := r.confined.newConfinement("")
	if err != nil {
		return nil, err
	}
	c.users = 1
	confine.OnThread(func() { c.serve(prepare) })
	<-c.ready
	if c.err != nil {
		return nil, c.err
	}
	return &Confined{r, c}, nil
}

// Threads returns the number of confined threads.
func (r *Runner) Threads() int { return int(r.confined.threads.Load()) }

// Release ends the use of a confinement.
func (u *Confined) Release() {
	all := &u.runner.confined
	all.mu.Lock()
	defer all.mu.Unlock()
	if u.c.users--; u.c.users > 0 {
		return
	}
	if u.c.key == "" { // not shared
		u.c.wake.hangUp()
		return
	}
	u.c.since = time.Now()
	all.sweep(idleFor)
	if all.timer == nil {
		all.plan(idleFor)
	}
}

// plan schedules a sweep. The caller holds the lock.
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

// sweep ends threads that were idle for a long time, and the longest idle ones above the limit. It
// reports whether idle threads remain. The caller holds the lock.
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

// serve prepares a thread, and runs requests on it.
func (c *confinement) serve(prepare func() error) {
	c.threads.Add(1)
	defer c.threads.Add(-1)
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

// end closes the pipes. The sending end of wake is already closed, unless the thread was never ready.
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

// forkExec starts a program on the confined thread, or on any thread without a confinement. The lifeline knows the
// group of the process before the program runs.
func (u *Confined) forkExec(program string, argv []string, attr *syscall.ProcAttr, l *lifeline) (pid int, err error) {
	start := func() { pid, err = fork.Exec(program, argv, attr, l.ends(), confine.OwnMark()) }
	if u == nil {
		start()
	} else if asked := u.c.run(start); asked != nil {
		return 0, asked
	}
	return pid, err
}

// OpenRegular opens a regular file for reading with the permissions of the scripts. The path is
// absolute, and symbolic links on it are not followed.
func (u *Confined) OpenRegular(path string) (*os.File, error) {
	fd := -1
	var err error
	asked := u.c.run(func() { fd, err = folder.OpenStraight(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY) })
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

// run runs a function on the thread. The error means that it did not run.
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

// receive waits until the other end sends. It returns false after hangUp.
func (p *pipe) receive() bool {
	var b [1]byte
	for {
		if n, err := unix.Read(p[0], b[:]); err != unix.EINTR {
			return n == 1
		}
	}
}

// hangUp ends the wait at the other end.
func (p *pipe) hangUp() { unix.Close(p[1]) }

func (p *pipe) close() { closeAll(p[:]...) }
