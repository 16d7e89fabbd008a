package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/shell"
)

// ErrNotRunnable is the error for a file without execute bit, shell extension and interpreter line.
var ErrNotRunnable = errors.New("not runnable")

const headSize = 256

// Runnable reports whether a file can be started.
func Runnable(name string, mode fs.FileMode, head []byte) bool {
	return mode&0o111 != 0 || IsShellName(name) || HasShebang(head)
}

// IsDormant reports whether a file is a script that programs cannot start, because it lacks the execute bit.
func IsDormant(mode fs.FileMode, head []byte) bool {
	return mode.IsRegular() && mode&0o111 == 0 && HasShebang(head)
}

// IsShellName reports whether a file name has the extension of a shell script.
func IsShellName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".sh" || ext == ".bash"
}

// Command returns the argument vector that runs a file, whose name is last. An executable file is the only element,
// except after "#!/usr/bin/env NAME", where Command looks up NAME to save a process. A file without execute bit runs
// with bash if it has a shell extension, otherwise with the interpreter of its first line.
func Command(file string) ([]string, error) {
	mode, head, err := readHead(file)
	switch {
	case errors.Is(err, fs.ErrPermission): // executable but not readable: the system decides
		return []string{file}, nil
	case err != nil:
		return nil, err
	}
	return command(file, mode, head)
}

func command(file string, mode fs.FileMode, head []byte) ([]string, error) {
	interpreter := shebang(head)
	unseen := HasMark(head) && len(interpreter) > 0 // the system does not see this first line
	switch {
	case onWindows && strings.EqualFold(filepath.Ext(file), ".exe"):
		return []string{file}, nil
	case mode&0o111 != 0 && len(interpreter) > 1 && isEnv(interpreter[0]) && plainName(interpreter[1]):
		return append(interpreter[1:], file), nil
	case mode&0o111 != 0 && !onWindows && !unseen:
		return []string{file}, nil
	case IsShellName(file) && (mode&0o111 == 0 || onWindows || !unseen):
		return []string{"bash", file}, nil
	case len(interpreter) > 1 && isEnv(interpreter[0]):
		return append(envProgram(interpreter[1:]), file), nil
	case len(interpreter) > 0:
		if onWindows {
			interpreter[0] = path.Base(interpreter[0])
		}
		return append(interpreter, file), nil
	case mode&0o111 != 0:
		return []string{file}, nil
	}
	return nil, ErrNotRunnable
}

// Interpreter returns the interpreter of a file's first line with its arguments, or nil. head has
// the first bytes of the file. A program after env must be looked up on PATH.
func Interpreter(head []byte) []string {
	words := shebang(head)
	if len(words) > 1 && isEnv(words[0]) {
		return envProgram(words[1:])
	}
	return words
}

// Programs returns the programs that the system starts for the first line of a file, or nil. These
// are the interpreter, or env and the program that env looks up.
func Programs(file string) []string {
	_, head, err := readHead(file)
	if err != nil {
		return nil
	}
	words := shebang(head)
	if len(words) > 1 && isEnv(words[0]) {
		return []string{words[0], envProgram(words[1:])[0]}
	}
	return words[:min(1, len(words))]
}

// HasMark reports whether a file that begins with head has a byte order mark before its first line. Most interpreters
// ignore it. Shells do not.
func HasMark(head []byte) bool { return bytes.HasPrefix(head, rawjson.ByteOrderMark) }

// HasShebang reports whether a file that begins with head names its interpreter, possibly after a byte order mark.
func HasShebang(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(head, rawjson.ByteOrderMark), []byte("#!"))
}

// RemoveMark returns a command that removes the byte order mark of a file. It works in every shell and keeps the
// file's mode.
func RemoveMark(file string) string { return rewrite("tail -c +4", file, ".plain") }

// RemoveReturns returns a command that replaces the Windows line ends of a file, like [RemoveMark].
func RemoveReturns(file string) string { return rewrite(`tr -d '\r'`, file, ".lf") }

func rewrite(filter, file, suffix string) string {
	f, other := shell.Quote(file), shell.Quote(file+suffix)
	return fmt.Sprintf("%s <%s >%s && cat %s >%s && rm %s", filter, f, other, other, f, other)
}

// shebang returns the interpreter of a first line and its argument. Like the system, it treats
// everything after the interpreter as one argument.
func shebang(head []byte) []string {
	line, found := bytes.CutPrefix(bytes.TrimPrefix(head, rawjson.ByteOrderMark), []byte("#!"))
	if !found {
		return nil
	}
	if at := bytes.IndexByte(line, '\n'); at >= 0 {
		line = line[:at]
	} else if len(head) == headSize {
		return nil // truncated: the system reads it
	}
	text := strings.Trim(string(line), " \t\r")
	end := strings.IndexAny(text, " \t")
	switch {
	case text == "":
		return nil
	case end < 0:
		return []string{text}
	}
	return []string{text[:end], strings.TrimLeft(text[end:], " \t")}
}

func isEnv(program string) bool { return path.Base(program) == "env" }

// plainName reports whether env uses a word as a program name: it is not an option or assignment.
func plainName(word string) bool {
	return !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "= \t")
}

// envProgram returns the program after env and its arguments. With -S, env splits its only argument.
func envProgram(args []string) []string {
	words := strings.Fields(args[0])
	if len(words) > 0 && (words[0] == "-S" || words[0] == "--split-string") {
		words = words[1:]
	} else if len(words) > 0 {
		words[0] = strings.TrimPrefix(words[0], "-S")
	}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return []string{"bash"}
	}
	return words
}

// endTime is the time in which one of our programs must end after SIGTERM.
const endTime = 5 * time.Second

// Pipe runs one of our programs with an input, and writes its standard output to output. If the
// program fails, the error is its standard error. If ctx ends, the program gets SIGTERM, and the
// error is the context's cause.
func Pipe(ctx context.Context, input io.Reader, output io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTime
	var message bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, output, &message
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &ended) && message.Len() > 0:
		return errors.New(string(bytes.TrimSpace(message.Bytes())))
	}
	return err
}

type programs struct {
	mu    sync.Mutex
	found map[[2]string]string
}

// find returns the file of a program on the PATH of an environment. It returns name if it contains
// a separator or is not found.
func (p *programs) find(name string, env []string) string {
	if strings.ContainsRune(name, os.PathSeparator) || onWindows && strings.Contains(name, "/") {
		return name
	}
	key := [2]string{pathOf(env), name}
	p.mu.Lock()
	defer p.mu.Unlock()
	if file, ok := p.found[key]; ok && isProgram(file) {
		return file
	}
	file := LookPath(name, key[0])
	if file == "" {
		return name
	}
	if p.found == nil {
		p.found = make(map[[2]string]string)
	}
	p.found[key] = file
	return file
}

func pathOf(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], "PATH="); ok {
			return v
		}
	}
	return ""
}

// LookPath returns the first executable file with a name in a PATH, or "". It skips empty and relative directories.
func LookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ext := range programExtensions {
			if file := filepath.Join(dir, name+ext); isProgram(file) {
				return file
			}
		}
	}
	return ""
}

// Locate returns the file of a program, given its name on a PATH or its absolute path, or "" if it does not exist.
func Locate(name, path string) string {
	if filepath.IsAbs(name) {
		return LookPath(filepath.Base(name), filepath.Dir(name))
	}
	return LookPath(name, path)
}

// Find returns the path of a program next to this one, or else on a PATH, or "".
func Find(name, path string) string {
	if sibling := Sibling(name); sibling != "" {
		return sibling
	}
	return LookPath(name, path)
}

// Sibling returns the path of a program next to this one, or "".
func Sibling(name string) string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if physical, err := filepath.EvalSymlinks(exe); err == nil {
		exe = physical
	}
	return LookPath(name, filepath.Dir(exe))
}
