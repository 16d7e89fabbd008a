package script

import (
	"errors"
	"io"
	"slices"
	"time"

	"mcp-bash/pkg/run/code"
)

// A Spec says what to run and within what bounds. Standard input is empty, no
// descriptor but 0, 1 and 2 (and those of Extra) is open, and signals have
// their default disposition (T-45 to T-47).
type Spec struct {
	// Script is the file to run. How it is started follows from its mode and first
	// line; see [Command].
	Script code.File
	// Argv, when set, is how to run the script, or what to run when there is none:
	// the program, found on the PATH of Env, and its arguments. No file of a project
	// is among them but the script; test/house checks that.
	Argv []string
	// Sources follow Argv, or the script: files that the program reads as code.
	Sources []code.File
	// Args are the last arguments.
	Args []string
	Dir  string
	Env  []string // "NAME=value"; nothing is added

	StdoutLimit int       // bytes; one more ends the script with ErrStdoutLimit; 0: none
	StderrLimit int       // the same with ErrStderrLimit
	StderrTee   io.Writer // gets standard error as it comes, when set
	// Grew, when set, is called whenever the captured output takes more memory. On Unix that is on the
	// goroutine of [Runner.Run].
	Grew func(bytes int)

	Timeout time.Duration // ends the script with ErrTimedOut; 0: none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0: one second

	// Watch, when set, is called at least every Interval while the script
	// runs, on the goroutine of [Runner.Run]. An error ends the script.
	Watch    func(now time.Time) error
	Interval time.Duration // 0: 50 ms
	// Pace, when set, is called after each call of Watch. It returns the time until the next one, at
	// least Interval, because a script that waits for its client needs fewer. A Waker can end that
	// time early, but not before Interval.
	Pace func() (time.Duration, *Waker)

	// Confined, when set, is what the script is held to; see [Runner.Confine].
	Confined *Confined

	// Extra opens further descriptors in the script, by number above 2.
	Extra map[int]uintptr
}

// arguments returns the argument vector of the process.
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

// complete adds what follows a script or program.
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

// A Result is how a script ended and what it printed.
type Result struct {
	// Status is the exit status as a shell gives it: 128+n for signal n, 126
	// or 127 for a script that could not be started.
	Status int
	Signal int // the signal that ended the script, 0 for none
	// Cause is why we ended the script: an error of this package, the one
	// Watch returned, or the cause of the context. Nil: it ended by itself.
	Cause  error
	Stdout []byte
	Stderr []byte // of a script that could not be started: the reason
	// Alone reports that nothing of the script is left: its group is empty and
	// nobody holds its output open.
	Alone bool
	// Left is the process group in which something still runs that the script left behind, 0 for none.
	// [Runner.End] ends it.
	Left int
}

// The causes this package knows.
var (
	ErrTimedOut    = errors.New("script timed out")
	ErrStdoutLimit = errors.New("too much on standard output")
	ErrStderrLimit = errors.New("too much on standard error")
)

const (
	defaultGrace    = time.Second
	defaultInterval = 50 * time.Millisecond
	statusNoExec    = 126 // found but not to be executed
	statusNotFound  = 127
	signalBase      = 128
)

// A ConfineFunc has what is about to be started run confined; files are what it may write to.
// release is to be called when it has ended. The error is why it must not run.
type ConfineFunc func(spec *Spec, files ...string) (release func(), err error)
