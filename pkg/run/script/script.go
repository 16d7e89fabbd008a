// Package script is the only place that starts processes. It runs a script in its own session and
// process group and collects its output within limits. It ends the script when the caller asks for
// it, when a limit is exceeded, and, if the system permits, when this process is killed.
//
// Processes of a script end as follows:
//
//   - In every case where this process can act, the script and its group get SIGTERM. They get
//     SIGKILL after a grace period.
//   - Processes that remain in the group of an ended script run until [Runner.End]: see
//     runner_unix.go.
//   - If this process is killed with SIGKILL, Linux kills the whole group: see group_linux.go.
//     On other systems, the script notices it when it writes.
//   - Only [Runner.KillLeft] ends processes that leave the group (setsid), after [AdoptOrphans].
//   - On Windows the script runs in a job object, which ends with this process.
package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"mcp-bash/pkg/run/code"
)

// A Spec describes a process and its limits. Standard input is empty, no descriptors but 0, 1, 2 and those of Extra are
// open, and signals have their default disposition.
type Spec struct {
	// Script is the file to run. [Command] returns how it starts.
	Script code.File
	// Argv, if set, is the command that runs the script, or a program without a script. The program
	// is looked up on the PATH of Env. Argv contains no file of a project but the script, which
	// test/house checks.
	Argv []string
	// Sources are files that the program reads as code. They follow Argv, or the script.
	Sources []code.File
	// Args are the last arguments.
	Args []string
	// Prepared means that the caller has called [Runner.Prepare].
	Prepared bool
	Dir      string
	Env      []string // "NAME=value"; the complete environment

	StdoutLimit int       // bytes; more end the script with ErrStdoutLimit; 0 for no limit
	StderrLimit int       // the same with ErrStderrLimit
	StderrTee   io.Writer // receives copies of standard error; may be nil
	// Grew, if set, is called when the captured output needs more memory. On Unix it runs on the
	// goroutine of [Runner.Run].
	Grew func(bytes int)

	// Spool, if set, returns the destination of standard output as soon as it has more than SpoolFrom
	// bytes. From then on, memory keeps none of it.
	Spool     func() (io.Writer, error)
	SpoolFrom int

	Timeout time.Duration // ends the script with ErrTimedOut; 0 for no limit
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 for one second

	// Started, if set, runs once while the script runs, on the goroutine of [Runner.Run].
	Started func()
	// Watch, if set, runs at least every Interval while the script runs, on the goroutine of
	// [Runner.Run]. An error ends the script.
	Watch    func(now time.Time) error
	Interval time.Duration // 0 for 50 ms
	// Pace, if set, is called after each call of Watch. It returns the time until the next one, at least Interval,
	// because scripts that wait need fewer calls. A Waker can end that time early, but not before Interval.
	Pace func() (time.Duration, *Waker)

	// Confined, if set, is the confinement of the script; see [Runner.Confine].
	Confined *Confined

	// Extra has further descriptors of the script, by number above 2.
	Extra map[int]uintptr
}

// A StderrFunc receives the standard error of a script that has ended. name is the script in messages, such as
// "tool 'x'". It may be nil.
type StderrFunc func(name string, stderr []byte)

// Report passes on the standard error of a script.
func (f StderrFunc) Report(name string, stderr []byte) {
	if f != nil && len(stderr) > 0 {
		f(name, stderr)
	}
}

func (s *Spec) arguments() ([]string, error) {
	argv := s.Argv
	if argv == nil {
		var err error
		if argv, err = Command(s.Script.Path()); err != nil {
			return nil, err
		}
	}
	return s.complete(argv), nil
}

// complete adds Sources and Args to a command.
func (s *Spec) complete(argv []string) []string {
	if len(s.Sources)+len(s.Args) == 0 {
		return argv
	}
	argv = slices.Clip(argv)
	for _, file := range s.Sources {
		argv = append(argv, file.Path())
	}
	return append(argv, s.Args...)
}

// A Result describes how a script ended, and its output.
type Result struct {
	// Status is the exit status as in a shell: 128+n for signal n, and 126 or 127 for a script that could not start.
	Status int
	Signal int // signal that ended the script, or 0
	// Cause is the reason why this process ended the script: an error of this package, of Watch, or the context's
	// cause. nil means that the script ended by itself.
	Cause  error
	Stdout []byte
	Stderr []byte // for a script that could not start: the reason
	// Processor is the time of a processor that the script used, with the descendants that it has waited for.
	Processor time.Duration
	Peak      int64 // memory of the largest of these, in bytes; 0: not known
	// Alone reports that no process of the script remains: its group is empty and its output is closed.
	Alone bool
	// Left is the process group of the script if it still has members, or 0. [Runner.End] ends it.
	Left int
}

// Causes of this package.
var (
	ErrTimedOut    = errors.New("script timed out")
	ErrStdoutLimit = errors.New("too much on standard output")
	ErrStderrLimit = errors.New("too much on standard error")
)

// A Slot permits a request to start a script, or to begin other long work.
type Slot interface {
	// Enter waits for the slot. The error is the cause of ctx.
	Enter(ctx context.Context) error
}

const (
	defaultGrace    = time.Second
	defaultInterval = 50 * time.Millisecond
	statusNoExec    = 126 // found, but not executable
	statusNotFound  = 127
	signalBase      = 128
)

const (
	// firstPace is the time until the second check of waitUntil. Further checks are less frequent.
	firstPace = 2 * time.Millisecond
	// killMoment limits the wait after SIGKILL, because a process may be stuck in the kernel.
	killMoment = time.Second
)

// waitUntil waits until a condition holds that nothing announces, or the time is over.
func waitUntil(holds func() bool, limit time.Duration) {
	end := time.Now().Add(limit)
	for pace := firstPace; !holds() && time.Now().Before(end); pace = min(2*pace, defaultInterval) {
		time.Sleep(pace)
	}
}

// A ConfineFunc confines a process that is about to start. files are the files that it may write
// to. The caller calls release after the end of the process. An error means that the process must
// not start.
type ConfineFunc func(spec *Spec, files ...string) (release func(), err error)

// Prepare calls Ready and Allow if they are set. Run calls it too. Callers that create files for a script call it
// first, with the files that the script runs.
func (r *Runner) Prepare(files ...code.File) error {
	if r.Ready != nil {
		if err := r.Ready(); err != nil {
			return err
		}
	}
	if r.Allow == nil {
		return nil
	}
	if err := r.Allow(slices.Clone(files)...); err != nil { // a clone, so that callers without Allow allocate nothing
		return &NotAllowedError{err}
	}
	return nil
}

// A NotAllowedError is the reason why [Runner.Allow] refuses files.
type NotAllowedError struct{ err error }

func (e *NotAllowedError) Error() string { return e.err.Error() }

func (e *NotAllowedError) Unwrap() error { return e.err }

// command prepares a script, unless ctx has ended, and returns its command line.
func (r *Runner) command(ctx context.Context, s *Spec) (argv []string, err error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case s.Prepared:
	case r.Allow == nil:
		err = r.Prepare()
	default:
		err = r.Prepare(append(slices.Clone(s.Sources), s.Script)...)
	}
	if err != nil {
		return nil, err
	}
	return s.arguments()
}

// notStarted returns the result for a script that did not start.
func notStarted(ctx context.Context, err error) Result {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return Result{Status: signalBase + int(syscall.SIGTERM), Cause: err, Alone: true}
	}
	res := Result{Status: statusNoExec, Stderr: []byte(err.Error() + Shortage(err)), Alone: true}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		res.Status = statusNotFound
	}
	return res
}

// A capture collects one output stream within a limit.
type capture struct {
	buf      []byte
	limit    int   // 0 for no limit
	exceeded error // the cause for the end of a script with more output
	tee      io.Writer
	grew     func(bytes int) // see Spec.Grew

	spool     func() (io.Writer, error) // see Spec.Spool; nil: all output stays in memory
	spoolFrom int
	spooled   int       // bytes in the spool
	file      io.Writer // the spool, or nil before it is needed
	failed    error     // of the spool
}

// captures returns the captures of the standard output and the standard error of a script.
func (s *Spec) captures() (stdout, stderr capture) {
	stdout = capture{limit: s.StdoutLimit, exceeded: ErrStdoutLimit, grew: s.Grew, spool: s.Spool, spoolFrom: s.SpoolFrom}
	stderr = capture{limit: s.StderrLimit, exceeded: ErrStderrLimit, grew: s.Grew, tee: s.StderrTee}
	return stdout, stderr
}

const (
	captureFirst = 4 << 10
	captureNext  = 64 << 10
)

// space returns the buffer for the next read: at least one byte, and at most one byte more than the limit.
func (c *capture) space() []byte {
	if len(c.buf) == cap(c.buf) {
		c.grow()
	}
	free := c.buf[len(c.buf):cap(c.buf)]
	if c.file != nil {
		return free
	}
	if c.limit > 0 {
		free = free[:min(len(free), c.limit+1-len(c.buf))]
	}
	return free
}

// grow multiplies the buffer by four. Unused memory is free, but copying a large output is not.
func (c *capture) grow() {
	size := 4 * cap(c.buf)
	switch {
	case size == 0:
		size = captureFirst
	case size < captureNext:
		size = captureNext
	}
	if c.limit > 0 {
		size = min(size, c.limit+1)
	}
	grown := make([]byte, len(c.buf), max(size, len(c.buf)+1))
	copy(grown, c.buf)
	if c.grew != nil {
		c.grew(cap(grown) - cap(c.buf))
	}
	c.buf = grown
}

// add appends n bytes that were read into space. It reports whether the output is within the limit.
func (c *capture) add(n int) bool {
	c.buf = c.buf[:len(c.buf)+n]
	if c.tee != nil {
		c.tee.Write(c.buf[len(c.buf)-n:])
	}
	if c.spool != nil && (c.file != nil || len(c.buf) > c.spoolFrom) && !c.flush() {
		return false
	}
	return c.limit <= 0 || c.spooled+len(c.buf) <= c.limit
}

// flush moves the buffer to the spool. It reports whether that succeeded.
func (c *capture) flush() bool {
	if c.file == nil {
		if c.file, c.failed = c.spool(); c.failed != nil {
			c.file = nil
			return false
		}
	}
	var n int
	n, c.failed = c.file.Write(c.buf)
	c.spooled += n
	c.buf = c.buf[:0]
	return c.failed == nil
}

// tooMuch returns the cause for the end of a script whose output cannot be captured.
func (c *capture) tooMuch() error {
	if c.failed != nil {
		return fmt.Errorf("%w: %w", c.exceeded, c.failed)
	}
	return c.exceeded
}
