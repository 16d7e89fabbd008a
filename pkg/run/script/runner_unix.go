//go:build unix

package script

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/run/code"
)

// A Runner runs scripts and keeps their shared resources. Its methods are safe for concurrent use.
// The zero value is ready.
type Runner struct {
	// Ready creates the resources that all scripts need; see [Runner.Prepare]. It may be nil, and
	// is set before the first use.
	Ready func() error
	// Allow returns an error for files that may not be started or sourced. It may be nil, and is set before the first use.
	Allow func(files ...code.File) error

	programs programs
	drain    drain
	confined confinements
	running  atomic.Int32 // calls of Run

	// starting is locked while the writing ends of a script's pipes are open here. Another script's process that has not
	// called exec yet has copies of all descriptors. With copies of these ends, the output would not end with its script.
	starting sync.Mutex

	mu      sync.Mutex
	null    int          // /dev/null, or 0 before the first use
	groups  map[int]bool // process groups of running scripts
	left    []leftGroup  // groups of ended scripts that have members, oldest first
	spare   *lifeline    // a lifeline that is not tied, or nil
	waits   []*waitSet   // not in use
	stopped bool         // KillAll was called: start no scripts
}

// Run runs a script to its end. When ctx ends, the script is ended and Cause is the context's cause.
func (r *Runner) Run(ctx context.Context, s Spec) Result {
	r.running.Add(1)
	defer r.running.Add(-1)
	argv, err := r.command(ctx, &s)
	if err != nil {
		return notStarted(ctx, err)
	}
	p, err := r.start(&s, argv)
	if errors.Is(err, unix.ENOEXEC) && s.Script.Path() != "" { // as a shell does
		p, err = r.start(&s, s.complete([]string{"bash", s.Script.Path()}))
	}
	if err != nil {
		return notStarted(ctx, err)
	}
	s.Env = nil // the largest value that a long run would otherwise keep
	return p.run(ctx)
}

// KillAll kills all running scripts and remaining groups, and prevents new scripts.
func (r *Runner) KillAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for pid := range r.groups {
		unix.Kill(-pid, unix.SIGKILL)
	}
	r.signalLeft(unix.SIGKILL)
}

func (r *Runner) start(s *Spec, argv []string) (*process, error) {
	null, err := r.devNull()
	if err != nil {
		return nil, err
	}
	p := &process{runner: r, spec: s, stdout: stream{source: stdoutSource, fd: -1},
		stderr: stream{source: stderrSource, fd: -1}}
	p.stdout.capture, p.stderr.capture = s.captures()
	r.starting.Lock()
	defer r.starting.Unlock()
	outW, errW, err := p.prepare()
	defer closeAll(outW, errW)
	if err == nil {
		attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: files(null, outW, errW, s.Extra)}
		err = p.begin(argv, attr)
	}
	if err != nil {
		p.abandon()
		return nil, err
	}
	return p, nil
}

// prepare creates what is needed to observe the process and its end, so that a lack of descriptors prevents the start.
// It returns the ends of the pipes for the process, or -1.
func (p *process) prepare() (outW, errW int, err error) {
	outW, errW = -1, -1
	if p.stdout.fd, outW, err = newPipe(); err != nil {
		return
	}
	if p.stderr.fd, errW, err = newPipe(); err != nil {
		return
	}
	if p.waits, err = p.runner.takeWaitSet(); err != nil {
		return
	}
	if err = errors.Join(p.waits.watch(stdoutSource, p.stdout.fd), p.waits.watch(stderrSource, p.stderr.fd)); err != nil {
		return
	}
	if p.exit, err = newExitWatch(hasPidfd() && !refusesPidfd.Load()); err != nil {
		return
	}
	p.lifeline, err = p.runner.takeLifeline()
	return
}

// abandon releases what prepare has created.
func (p *process) abandon() {
	p.runner.returnLifeline(p.lifeline)
	if p.exit != nil {
		p.exit.close()
	}
	if p.waits != nil {
		p.runner.returnWaitSet(p.waits)
	}
	closeAll(p.stdout.fd, p.stderr.fd)
}

// closeAll closes descriptors, which may be -1.
func closeAll(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// begin starts the process.
func (p *process) begin(argv []string, attr *syscall.ProcAttr) (err error) {
	program := p.runner.programs.find(argv[0], p.spec.Env)
	attr.Sys = sysProc(p.exit.pidfd())
	p.pid, err = p.runner.fork(p.spec.Confined, program, argv, attr, p.lifeline)
	if err == unix.EINVAL && p.exit.pidfd() != nil {
		err = p.beginWithoutPidfd(program, argv, attr)
	}
	if err != nil {
		return &os.PathError{Op: "run", Path: argv[0], Err: err}
	}
	p.exit.begin(p.pid)
	p.began = time.Now()
	if err := p.waits.watch(exitSource, p.exit.fd); err != nil {
		p.end(err)
	}
	return nil
}

// beginWithoutPidfd starts the process where the kernel may refuse the process descriptor. If that succeeds, later
// processes also start without one.
func (p *process) beginWithoutPidfd(program string, argv []string, attr *syscall.ProcAttr) error {
	exit, err := newExitWatch(false)
	if err != nil {
		return err
	}
	p.exit, attr.Sys = exit, sysProc(nil)
	if p.pid, err = p.runner.fork(p.spec.Confined, program, argv, attr, p.lifeline); err == nil {
		refusesPidfd.Store(true)
	}
	return err
}

// fork starts the process, tied to a lifeline that may be nil. It adds the group to groups, so that KillAll includes
// it.
func (r *Runner) fork(in *Confined, program string, argv []string, attr *syscall.ProcAttr,
	l *lifeline) (int, error) {
	r.mu.Lock()
	stopped := r.stopped
	r.mu.Unlock()
	if stopped {
		return 0, unix.ECANCELED
	}
	pid, err := in.forkExec(program, argv, attr, l)
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = make(map[int]bool)
	}
	r.groups[pid] = true
	if r.stopped {
		unix.Kill(-pid, unix.SIGKILL)
	}
	return pid, nil
}

func files(null, out, err int, extra map[int]uintptr) []uintptr {
	list := []uintptr{uintptr(null), uintptr(out), uintptr(err)}
	for fd, file := range extra {
		for len(list) <= fd {
			list = append(list, ^uintptr(0)) // closed
		}
		list[fd] = file
	}
	return list
}

// devNull returns the standard input of scripts. The first call prevents scripts from inheriting other descriptors.
func (r *Runner) devNull() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.null == 0 {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: os.DevNull, Err: err}
		}
		r.null = fd
		sealDescriptors()
		defaultSignals()
	}
	return r.null, nil
}

func (r *Runner) takeLifeline() (*lifeline, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.spare; l != nil {
		r.spare = nil
		return l, nil
	}
	return newLifeline()
}

func (r *Runner) returnLifeline(l *lifeline) {
	if l == nil {
		return
	}
	l.release()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spare != nil { // after many scripts at once; lifelines are cheap
		l.close()
		return
	}
	r.spare = l
}

// A leftGroup is the process group of an ended script that still has members.
//
// Its number is the process number of the script. The kernel does not reuse the number while the
// group has members. So two conditions identify the group. No process has its number,
// which the leader of a new group would have. Its lifeline is still tied to it.
type leftGroup struct {
	id   int
	line *lifeline // may be nil
}

func (g *leftGroup) exists() bool {
	return unix.Kill(g.id, 0) == unix.ESRCH && (g.line == nil || g.line.tied()) && groupExists(g.id)
}

// mostTied returns the maximum number of lifelines of remaining groups. Above it, the oldest lifelines are closed. A
// group without a lifeline survives a SIGKILL of this process.
var mostTied = sync.OnceValue(func() int { return tiedWithin(capacity.Files()) })

// tiedWithin returns the maximum number of lifelines, given a limit on open files. Each needs two. On a busy machine,
// scripts that are killed at once all leave such groups, and other scripts must be able to start.
func tiedWithin(files int) int { return max(1, min(capacity.PartsOf(files).Left/2, 32)) }

// Remaining processes get some time to end before they are reported, such as the last program of a
// pipeline. The checks become less frequent.
const (
	firstMoment = 100 * time.Microsecond
	lastMoment  = 4 * time.Millisecond
)

// young is the maximum age of a script for youngGroupAlive. In this time, the process numbers cannot wrap around.
const young = 200 * time.Millisecond

// outlives reports whether a group has living members after its script has ended. took is the
// duration of the script.
func outlives(pgid int, took time.Duration) bool {
	alive := groupAlive
	if took < young {
		alive = youngGroupAlive
	}
	for moment := firstMoment; moment <= lastMoment; moment *= 2 {
		if !alive(pgid) {
			return false
		}
		time.Sleep(moment)
		if !groupExists(pgid) {
			return false
		}
	}
	return groupAlive(pgid)
}

// keep stores a remaining group, and removes ended groups.
func (r *Runner) keep(g leftGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = append(slices.DeleteFunc(r.left, func(old leftGroup) bool {
		if old.exists() {
			return false
		}
		old.untie()
		return true
	}), g)
	tied := 0
	for i := len(r.left) - 1; i >= 0; i-- {
		if r.left[i].line == nil {
			continue
		}
		if tied++; tied > mostTied() {
			r.left[i].untie()
		}
	}
	if r.stopped {
		r.signalLeft(unix.SIGKILL)
	}
}

func (g *leftGroup) untie() {
	if g.line != nil {
		g.line.release()
		g.line.close()
		g.line = nil
	}
}

// signalLeft signals the remaining groups. The caller holds the lock.
func (r *Runner) signalLeft(sig unix.Signal) {
	for _, g := range r.left {
		if g.exists() {
			unix.Kill(-g.id, sig)
		}
	}
}

// KillLeft kills the processes that ended scripts have left running: their groups and, after [AdoptOrphans], all
// others.
func (r *Runner) KillLeft() {
	r.mu.Lock()
	r.signalLeft(unix.SIGKILL)
	r.mu.Unlock()
	for r.killOrphans() {
	}
}

// End ends all scripts, and prevents new ones. Remaining groups get SIGTERM and, after a second, SIGKILL. So do scripts
// that still run; those whose context has not ended get only SIGKILL. [Runner.KillAll] ends this grace period. Then End
// waits up to a second until all these processes have ended. It returns the remaining groups.
func (r *Runner) End() (left []int) {
	r.mu.Lock()
	r.stopped = true
	for _, g := range r.left {
		if g.exists() && groupAlive(g.id) {
			left = append(left, g.id)
		}
	}
	r.signalLeft(unix.SIGTERM)
	r.mu.Unlock()
	waitUntil(r.allEnded, defaultGrace)
	r.KillAll()
	waitUntil(r.allEnded, killMoment)
	return left
}

// allEnded reports whether no script runs and no remaining group has living members.
func (r *Runner) allEnded() bool {
	if r.running.Load() > 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.left, func(g leftGroup) bool { return g.exists() && groupAlive(g.id) })
}
