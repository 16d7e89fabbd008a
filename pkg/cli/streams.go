package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
)

// Streams are the standard streams of a command. Tests replace them.
type Streams struct {
	In  io.Reader
	Out io.Writer // data
	Err io.Writer // diagnostics (CLI-101)
}

// Run runs a program with the process's arguments and streams, and returns its exit code. The program fails if it could
// not write all of its standard output. binary is its name.
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
// temporary files. It does not ignore the signal, because scripts would inherit that.
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

// Raw returns the terminal of a stream, for callers that control it with escape sequences. ok is false if the stream
// is not a terminal.
func Raw(of any) (w io.Writer, ok bool) {
	if s, ok := of.(*stream); ok && IsTerminal(s) {
		return s.file, true
	}
	return nil, false
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Colored reports whether to write colours to a stream: only to a terminal that has them, and not if NO_COLOR is set.
func Colored(stream any) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(stream)
}

// A Color is a colour of a text on a terminal, as a parameter of the escape sequence SGR.
type Color int

// The colours.
const (
	Plain  Color = 0
	Red    Color = 31
	Green  Color = 32
	Yellow Color = 33
)

// Explain writes lines of text. On a terminal it wraps those that are too long. It applies [Line] to args as [Printf]
// does.
func Explain(w io.Writer, format string, args ...any) {
	io.WriteString(w, wrapped(w, Sprintf(format, args...)))
}

// Sign writes a line with a sign before the text. The sign has a colour if [Colored] permits it.
func Sign(w io.Writer, indent string, c Color, sign, text string) {
	raw, ok := Raw(w)
	if c == Plain || !ok || !Colored(w) {
		Explain(w, "%s%s %s\n", indent, sign, text)
		return
	}
	line := wrapped(w, indent+sign+" "+Line(text)+"\n")
	fmt.Fprintf(raw, "%s\x1b[%dm%s\x1b[0m%s", indent, int(c), sign, line[len(indent+sign):])
}

// UntilSignal returns a context that ends when the process gets SIGINT or SIGTERM. Its cause is the exit code.
func UntilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case sig := <-received:
			BeginLine(sig, os.Stderr)
			n, _ := sig.(syscall.Signal)
			cancel(ExitCode(ExitSignal + int(n)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(nil)
	}
}

// BeginLine ends the line of the cursor if a signal is SIGINT and stderr is a terminal, so that messages begin on a new
// line. The terminal echoes ^C on the line of the cursor.
func BeginLine(sig os.Signal, stderr io.Writer) {
	if sig == os.Interrupt && IsTerminal(stderr) {
		fmt.Fprintln(stderr)
	}
}

// maxPayload limits the JSON of an argument, in bytes.
const maxPayload = 64 << 20

// A PayloadReader reads the JSON of arguments.
type PayloadReader struct {
	Stdin   io.Reader
	Timeout time.Duration // for standard input; 0: none
}

// Read reads the JSON of an argument. The value is the JSON itself, "@" and a file, or "-" or "@-" for standard
// input. An empty text is an empty object. kind is the required JSON, such as "an object", for the error of invalid
// JSON. The error is an [*Error] that names the argument.
func (r PayloadReader) Read(name, value, kind string) (json.RawMessage, error) {
	text := []byte(value)
	var err error
	switch {
	case value == "-" || value == "@-":
		text, err = r.stdin(name)
	case strings.HasPrefix(value, "@"):
		text, err = readFile(name, value[1:])
	}
	if err != nil {
		return nil, err
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return json.RawMessage("{}"), nil
	}
	v, err := rawjson.Check(text)
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line, column := syntax.Position(text)
		return nil, wrongPayload(name, kind).WithHint("see line %d, column %d: %s", line, column, syntax.Reason)
	case err != nil:
		return nil, wrongPayload(name, kind).WithHint("see its encoding: %v", err)
	}
	return v, nil
}

// wrongPayload returns the error of an argument with other JSON than required.
func wrongPayload(name, kind string) *Error {
	err := Failf(CodeInvalid, "%s must be %s", name, kind)
	err.Exit = ExitUsage
	return err
}

// Object is [PayloadReader.Read] for an argument that must be an object.
func (r PayloadReader) Object(name, value string) (json.RawMessage, error) {
	v, err := r.Read(name, value, "a JSON object")
	if err == nil && rawjson.KindOf(v) != rawjson.Object {
		return nil, wrongPayload(name, "a JSON object")
	}
	return v, err
}

func (r PayloadReader) stdin(name string) ([]byte, error) {
	ctx := context.Background()
	if r.Timeout > 0 {
		late := Failf(CodeTimeout, "%s: standard input did not end within %v; end it, or name a file as @FILE",
			name, r.Timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, late)
		defer cancel()
	}
	text, err := boundedfile.ReadStream(ctx, r.Stdin, maxPayload)
	return text, payloadError(name, "standard input", err)
}

func readFile(name, file string) ([]byte, error) {
	file, err := fsys.Named(file, os.Getenv("HOME"))
	if err != nil {
		return nil, Failf(CodeInvalid, "%s: %v", name, err)
	}
	text, err := boundedfile.Read(file, maxPayload)
	return text, payloadError(name, Line(file), err)
}

// payloadError converts an error from reading the value of an argument, name, to an [*Error]. source is a file or
// "standard input".
func payloadError(name, source string, err error) error {
	var large *boundedfile.TooLargeError
	var own *Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &large):
		return Failf(CodeInvalid, "%s: %s is larger than %d MiB, which is the limit; shorten it",
			name, source, large.Max>>20)
	case errors.Is(err, boundedfile.ErrNotRegular):
		return Failf(CodeInvalid, "%s: %s is not a regular file; write its content to a file, or pipe it and pass -",
			name, source)
	}
	return Failf(CodeNotFound, "%s: open %s: %v", name, source, fsys.Cause(err))
}
