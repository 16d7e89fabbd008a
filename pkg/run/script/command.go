package script

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrNotRunnable is the error for a file that is no script: no execute bit, no
// shell's extension and no first line that names an interpreter.
var ErrNotRunnable = errors.New("not runnable")

const headSize = 256

// Runnable reports whether a file can be run at all (T-43, T-44, T-49).
func Runnable(name string, mode fs.FileMode, head []byte) bool {
	return mode&0o111 != 0 || shellExtension(name) || bytes.HasPrefix(head, []byte("#!"))
}

func shellExtension(name string) bool {
	switch filepath.Ext(name) {
	case ".sh", ".bash":
		return true
	}
	return false
}

// Command returns the argument vector that runs a file, its own name last. An
// executable file runs itself, so it is the vector's only element, with one
// exception that saves a process: the usual "#!/usr/bin/env NAME" is carried
// out here. A file without execute bit is given to bash when its extension
// says so, else to the interpreter of its first line (T-44).
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

// readHead returns the mode and the beginning of a regular file.
func readHead(file string) (mode fs.FileMode, head []byte, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	if !info.Mode().IsRegular() {
		return 0, nil, ErrNotRunnable
	}
	head = make([]byte, headSize)
	n, _ := f.ReadAt(head, 0)
	return info.Mode(), head[:n], nil
}

func command(file string, mode fs.FileMode, head []byte) ([]string, error) {
	interpreter := shebang(head)
	switch {
	case onWindows && strings.EqualFold(filepath.Ext(file), ".exe"):
		return []string{file}, nil
	case mode&0o111 != 0 && len(interpreter) > 1 && isEnv(interpreter[0]) && plainName(interpreter[1]):
		return append(interpreter[1:], file), nil
	case mode&0o111 != 0 && !onWindows:
		return []string{file}, nil
	case shellExtension(file):
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

// Interpreter returns the program that a file's first line names, and its
// arguments; nil when it names none. head is the beginning of the file. The
// program after env is to be found on PATH.
func Interpreter(head []byte) []string {
	words := shebang(head)
	if len(words) > 1 && isEnv(words[0]) {
		return envProgram(words[1:])
	}
	return words
}

// Programs returns what the system starts for the first line of a file: the interpreter,
// after env where that is to find it; nil when it names none.
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

// shebang returns the interpreter of a first line and its argument. The system
// passes everything after the interpreter as one argument; so does this.
func shebang(head []byte) []string {
	line, found := bytes.CutPrefix(head, []byte("#!"))
	if !found {
		return nil
	}
	if at := bytes.IndexByte(line, '\n'); at >= 0 {
		line = line[:at]
	} else if len(head) == headSize {
		return nil // cut off: let the system read it
	}
	program, argument, _ := strings.Cut(strings.Trim(string(line), " \t\r"), " ")
	if program == "" {
		return nil
	}
	if argument = strings.Trim(argument, " \t"); argument == "" {
		return []string{program}
	}
	return []string{program, argument}
}

func isEnv(program string) bool { return path.Base(program) == "env" }

// plainName: env takes the word as a program name when it is no option and no
// assignment.
func plainName(word string) bool {
	return !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "= \t")
}

// envProgram returns the program after env and its arguments; -S lets env
// split the one argument the system gives it.
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
