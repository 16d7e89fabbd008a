package script

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/confine"
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
type confinement struct {
	key   string
	work  chan forkRequest
	ready chan struct{} // closed when the thread is confined, or cannot be
	err   error         // why it cannot be

	thread int       // its number
	users  int       // the lock of confinements is held for these
	since  time.Time // when the last user left
}

type forkRequest struct {
	program string
	argv    []string
	attr    *syscall.ProcAttr
	done    chan<- forked
}

type forked struct {
	pid int
	err error
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
		c = &confinement{key: key, work: make(chan forkRequest), ready: make(chan struct{})}
		if all.byKey == nil {
			all.byKey = map[string]*confinement{}
		}
		all.byKey[key] = c
		go c.live(k, p)
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

// Release says that the script has ended.
func (u *Confined) Release() {
	all := &u.runner.confined
	all.mu.Lock()
	defer all.mu.Unlock()
	if u.c.users--; u.c.users > 0 {
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
		close(oldest.work)
	}
}

// live is the life of a confined thread: Go ends it when the goroutine that is locked to it
// returns.
func (c *confinement) live(k confine.Kernel, p *confine.Profile) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The first thread stands for the process, and cannot be ended. While we are locked to it, the
		// next goroutine gets another.
		next := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(next)
			c.confined(k, p)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	c.confined(k, p)
}

func (c *confinement) confined(k confine.Kernel, p *confine.Profile) {
	c.thread = unix.Gettid()
	c.err = enter(k, p)
	close(c.ready)
	if c.err != nil {
		return
	}
	for f := range c.work {
		pid, err := syscall.ForkExec(f.program, f.argv, f.attr)
		f.done <- forked{pid, err}
	}
}

// forkExec starts a program, on the thread of what it is to be held to. Without confinement
// that is any thread.
func (u *Confined) forkExec(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if u == nil {
		return syscall.ForkExec(program, argv, attr)
	}
	done := make(chan forked, 1)
	u.c.work <- forkRequest{program, argv, attr, done}
	f := <-done
	return f.pid, f.err
}
