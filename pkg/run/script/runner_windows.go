package script

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"mcp-bash/pkg/run/code"
)

// A Runner runs scripts. Its methods are safe for concurrent use. The zero value is ready.
//
// Windows has no process groups and no SIGTERM. A script runs in a job object, and ending the
// script ends the job at once.
type Runner struct {
	// Ready creates the resources that all scripts need; see [Runner.Prepare]. It may be nil, and
	// is set before the first use.
	Ready func() error
	// Allow returns an error for files that may not be started or sourced. It may be nil, and is set before the first use.
	Allow func(files ...code.File) error

	programs programs

	mu      sync.Mutex
	jobs    map[windows.Handle]bool
	stopped bool
}

// Run runs a script to its end. When ctx ends, the script is ended and Cause is the context's cause.
func (r *Runner) Run(ctx context.Context, s Spec) Result {
	argv, err := r.command(ctx, &s)
	if err != nil {
		return notStarted(ctx, err)
	}
	job, err := newJob()
	if err != nil {
		return notStarted(ctx, err)
	}
	defer windows.CloseHandle(job)
	out, errs := &stream{}, &stream{}
	out.capture, errs.capture = s.captures()
	cmd := exec.Command(r.programs.find(argv[0], s.Env))
	cmd.Args, cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = argv, s.Dir, s.Env, out, errs
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW} // not our console
	if !r.enter(job) {
		return notStarted(ctx, os.ErrProcessDone)
	}
	defer r.leave(job)
	if err := cmd.Start(); err != nil {
		return notStarted(ctx, err)
	}
	began := time.Now()
	if h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
		uint32(cmd.Process.Pid)); err == nil {
		windows.AssignProcessToJobObject(job, h)
		windows.CloseHandle(h)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if s.Started != nil {
		s.Started()
	}
	cause := r.watch(ctx, &s, began, job, ended, out, errs)
	res := Result{Cause: cause, Stdout: out.buf, Stderr: errs.buf, Alone: true}
	if state := cmd.ProcessState; state != nil {
		res.Status = state.ExitCode()
		res.Processor = state.UserTime() + state.SystemTime()
	}
	return res
}

func (r *Runner) watch(ctx context.Context, s *Spec, began time.Time, job windows.Handle, ended chan error, out,
	errs *stream) error {
	ticker := time.NewTicker(cmp.Or(s.Interval, defaultInterval))
	defer ticker.Stop()
	var cause error
	for {
		select {
		case <-ended:
			return cause
		case now := <-ticker.C:
			if cause != nil {
				continue
			}
			ctxEnded := ctx.Err() != nil // before Watch, which must see it too
			cause = cmp.Or(out.overflow(), errs.overflow())
			switch {
			case cause != nil:
			case s.Timeout > 0 && now.Sub(began) >= s.Timeout:
				cause = ErrTimedOut
			case s.Watch != nil:
				cause = s.Watch(now)
			}
			if cause == nil && ctxEnded {
				cause = context.Cause(ctx)
			}
			if cause != nil {
				windows.TerminateJobObject(job, signalBase+15)
			}
		}
	}
}

// KillAll ends all running scripts with their jobs, and prevents new scripts.
func (r *Runner) KillAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for job := range r.jobs {
		windows.TerminateJobObject(job, signalBase+9)
	}
}

// KillLeft does nothing, because no process survives its job.
func (r *Runner) KillLeft() {}

// End is [Runner.KillAll], and waits for the end of the scripts. No group remains, because no process survives its job.
func (r *Runner) End() (left []int) {
	r.KillAll()
	waitUntil(r.allEnded, killMoment)
	return nil
}

// allEnded reports whether no script runs.
func (r *Runner) allEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.jobs) == 0
}

func (r *Runner) enter(job windows.Handle) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	if r.jobs == nil {
		r.jobs = make(map[windows.Handle]bool)
	}
	r.jobs[job] = true
	return true
}

func (r *Runner) leave(job windows.Handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, job)
}

// newJob makes a job that ends when its last handle is closed, at the latest at the end of this process.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, os.NewSyscallError("SetInformationJobObject", err)
	}
	return job, nil
}

// A stream is an [io.Writer] for os/exec that writes to a capture.
type stream struct {
	mu sync.Mutex
	capture
	over bool
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := p; len(rest) > 0 && !s.over; {
		space := s.space()
		if len(space) == 0 {
			s.over = true
			break
		}
		n := copy(space, rest)
		s.over = !s.add(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// overflow returns the cause for the end of a script with too much output, or nil.
func (s *stream) overflow() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		return nil
	}
	return s.tooMuch()
}
