package script

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

const onWindows = true

var programExtensions = []string{".exe", ".com", ".bat", ".cmd"}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// Replace runs a program as a child, because Windows cannot replace a process. It returns the
// exit code.
func Replace(path string, argv, env []string) (int, error) {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}

// Shortage returns "", because errors on Windows describe such problems well enough.
func Shortage(error) string { return "" }

// A Waker does nothing on Windows, where Watch is called at each interval.
type Waker struct{}

// NewWaker returns a Waker.
func NewWaker() (*Waker, error) { return &Waker{}, nil }

// Wake does nothing.
func (*Waker) Wake() {}

// Close does nothing.
func (*Waker) Close() {}

// readHead returns the mode of a regular file and its first bytes.
func readHead(file string) (mode fs.FileMode, head []byte, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY, 0)
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
