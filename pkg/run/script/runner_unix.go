//go:build unix

package script

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Runner runs scripts and keeps what they can share. Its methods may be
// called from any goroutine. The zero value is ready.
type Runner struct {
	// Ready, when set, makes what all scripts need; see [Runner.Prepare]. It is
	// set before the runner is used.
	Ready func() error

	programs programs
	drain    drain
	confined confinements

	mu      sync.Mutex
	null    int          // /dev/null, 0 until first used
	groups  map[int]bool // process groups of running scripts
	left    []leftGroup  // those of scripts that have ended, in which something runs on, the oldest first
	spare   *lifeline    // one that is not tied to a group, if there is any
	stopped bool         // KillAll was called: start nothing more
}

// Run runs a script to its end. When ctx ends, so does the script, with the
// context's cause as Cause.
func (r *Runner) Run(ctx context.Context, s Spec) Result {
	if err := context.Cause(ctx); err != nil {
		return Result{Status: signalBase + int(unix.SIGTERM), Cause: err, Alone: true}
	}
	if err := r.Prepare(); err != nil {
		return notStarted(err)
	}
	argv, err := s.arguments()
	if err != nil {
		return notStarted(err)
	}
	p, err := r.start(&s, argv)
	if errors.Is(err, unix.ENOEXEC) && s.Script.Path() != "" { // as a shell would (T-43)
		p, err = r.start(&s, s.complete([]string{"bash", s.Script.Path()}))
	}
	if err != nil {
		return notStarted(err)
	}
	s.Env = nil // a script may run for long, and this is the largest that is left of its start
	return p.run(ctx)
}

func notStarted(err error) Result {
	res := Result{Status: statusNoExec, Stderr: []byte(err.Error() + Shortage(err)), Alone: true}
	if errors.Is(err, os.ErrNotExist) {
		res.Status = statusNotFound
	}
	return res
}

// KillAll kills every running script and everything that scripts left in their groups, at once,
// and lets no other start.
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
	p := &process{runner: r, spec: s}
	p.stdout = capture{limit: s.StdoutLimit, grew: s.Grew}
	p.stderr = capture{limit: s.StderrLimit, tee: s.StderrTee, grew: s.Grew}
	var outW, errW int
	if p.out, outW, err = newPipe(); err != nil {
		return nil, err
	}
	defer unix.Close(outW)
	if p.err, errW, err = newPipe(); err != nil {
		unix.Close(p.out)
		return nil, err
	}
	defer unix.Close(errW)
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: files(null, outW, errW, s.Extra)}
	if err = p.begin(argv, attr); err != nil {
		unix.Close(p.out)
		unix.Close(p.err)
		return nil, err
	}
	return p, nil
}

// begin starts the process, once everything is there that it takes to see its
// end.
func (p *process) begin(argv []string, attr *syscall.ProcAttr) (err error) {
	r, pidfd := p.runner, hasPidfd()
	if p.exit, err = newExitWatch(pidfd); err != nil {
		return err
	}
	if p.lifeline, err = r.takeLifeline(); err != nil {
		p.exit.close()
		return err
	}
	attr.Sys = sysProc(nil)
	if pidfd {
		attr.Sys = sysProc(&p.exit.fd)
	}
	program := r.programs.find(argv[0], p.spec.Env)
	if p.pid, err = r.fork(p.spec.Confined, program, argv, attr, p.lifeline); err != nil {
		r.giveLifeline(p.lifeline)
		p.exit.close()
		return &os.PathError{Op: "run", Path: argv[0], Err: err}
	}
	p.exit.begin(p.pid)
	p.began = time.Now()
	return nil
}

// fork starts the process, ties it to us before it can have children of its
// own, and enters it among the groups, so that KillAll misses none.
func (r *Runner) fork(in *Confined, program string, argv []string, attr *syscall.ProcAttr,
	l *lifeline) (int, error) {
	r.mu.Lock()
	stopped := r.stopped
	r.mu.Unlock()
	if stopped {
		return 0, unix.ECANCELED
	}
	pid, err := in.forkExec(program, argv, attr)
	if err != nil {
		return 0, err
	}
	if l != nil {
		l.tie(pid)
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

// devNull returns the standard input of scripts. With the first one it sees to
// it that they inherit nothing else (T-46).
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

func (r *Runner) giveLifeline(l *lifeline) {
	if l == nil {
		return
	}
	l.release()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spare != nil { // after many at once: they are cheap to make
		l.close()
		return
	}
	r.spare = l
}
