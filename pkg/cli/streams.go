package cli

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"mcp-bash/pkg/files/fsys"
)

// Streams are the standard streams of a command. Tests replace them.
type Streams struct {
	In  io.Reader
	Out io.Writer // data
	Err io.Writer // diagnostics (CLI-101)
}

// Run runs a program with the process's arguments and streams, and returns its exit code. The program fails if it
// could not write all of its standard output (CLI-116). binary is its name.
func Run(binary string, program func(s Streams, args []string) int) int {
	out := &stream{file: os.Stdout}
	s := Streams{os.Stdin, out, &stream{file: os.Stderr}}
	code := program(s, os.Args[1:])
	switch err := out.close(); {
	case err == nil:
	case IsBrokenPipe(err):
		return ExitSignal + int(syscall.SIGPIPE)
	default:
		Printf(s.Err, "%s: write standard output: %v\n", binary, err)
		if code == ExitOK {
			return ExitFailed
		}
	}
	return code
}

// A stream is standard output or standard error. It applies [Printable] to texts for a terminal, so that texts of
// scripts, projects and networks cannot control the terminal. Files and pipes get the bytes unchanged. Any goroutine
// may write.
type stream struct {
	file *os.File

	mu       sync.Mutex
	begun    bool
	terminal bool
	rest     []byte // the incomplete end of the last write
	failed   error  // the first error of a write
}

// An outputError is the error of a write to a [stream]. [Run] reports it.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// Fd returns the descriptor, for [IsTerminal].
func (s *stream) Fd() uintptr { return s.file.Fd() }

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(p); err != nil {
		if s.failed == nil {
			s.failed = err
		}
		return 0, outputError{err}
	}
	return len(p), nil
}

func (s *stream) write(p []byte) error {
	if !s.begun {
		s.begin()
	}
	if s.terminal {
		var rest []byte
		p, rest = appendPrintable(nil, append(s.rest, p...))
		s.rest = bytes.Clone(rest)
	}
	if _, err := s.file.Write(p); err != nil {
		return fsys.Cause(err)
	}
	return nil
}

// begin checks the type of the stream. It also catches SIGPIPE, so that a command without a reader still removes its
// temporary files. It does not ignore the signal, because scripts would inherit that (T-47).
func (s *stream) begin() {
	s.begun, s.terminal = true, IsTerminal(s.file)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// close ends a stream that was written to, and returns the first error. File systems such as NFS
// report a full disk only here.
func (s *stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun && s.failed == nil {
		if err := s.file.Close(); err != nil {
			s.failed = fsys.Cause(err)
		}
	}
	return s.failed
}
