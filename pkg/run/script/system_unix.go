//go:build unix

package script

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const onWindows = false

var programExtensions = []string{""}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// readHead returns the mode of a regular file and its first bytes. An [os.File] would cost each call of a tool three
// more system calls.
func readHead(file string) (mode fs.FileMode, head []byte, err error) {
	fd, err := -1, error(unix.EINTR)
	for err == unix.EINTR { // without a wait if the file is a pipe
		fd, err = unix.Open(file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return 0, nil, &os.PathError{Op: "open", Path: file, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, nil, &os.PathError{Op: "stat", Path: file, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, nil, ErrNotRunnable
	}
	head = make([]byte, headSize)
	n, _ := unix.Read(fd, head)
	return fs.FileMode(st.Mode).Perm(), head[:max(0, n)], nil
}

// Replace replaces this process by a program, which gets its signals and streams. It returns
// only after an error.
func Replace(path string, argv, env []string) (int, error) {
	return 0, syscall.Exec(path, argv, env)
}

func sealOneByOne(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// Shortage returns the remedy for a lack of descriptors, processes or memory, or "". It begins with
// a semicolon, to follow the text of the error.
func Shortage(err error) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		return "; this process has too many files open: raise the limit (ulimit -n) or run less at once"
	case errors.Is(err, unix.ENFILE):
		return "; the system has too many files open: close programs or raise its limit"
	case errors.Is(err, unix.EAGAIN):
		return "; too many processes: raise the user's limit (ulimit -u) or run less at once"
	case errors.Is(err, unix.ENOMEM):
		return "; not enough memory: run less at once"
	}
	return ""
}

// defaultSignals gives scripts the default disposition of signals that this process ignores, for example under nohup.
// Child processes inherit ignored signals, but not caught ones. So this process catches these signals and drops them.
func defaultSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} { // the runtime catches all others
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// hasTerminal reports whether this process has a controlling terminal. It checks once, because a
// process gets a terminal later only if it leads a session and opens one.
var hasTerminal = sync.OnceValue(func() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// withoutTerminal starts a process in its own group, without a terminal. A new session has no
// terminal. It is used only if this process has a terminal: Linux makes a scheduling group for
// every session, which costs about 5 % of a call.
func withoutTerminal() *syscall.SysProcAttr {
	if hasTerminal() {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// A drain reads the output of child processes that outlive their script, so that no closed pipe ends them. It keeps a
// limited number of pipes open and closes the oldest first.
type drain struct {
	mu    sync.Mutex
	pipes []*os.File // the oldest first
}

const maxDrained = 64

// take reads a pipe to its end. fd may be -1.
func (d *drain) take(fd int) {
	if fd < 0 {
		return
	}
	f := os.NewFile(uintptr(fd), "output") // already non-blocking, so it joins Go's poller
	d.mu.Lock()
	d.pipes = append(d.pipes, f)
	if len(d.pipes) > maxDrained {
		d.pipes[0].Close()
		d.pipes = slices.Delete(d.pipes, 0, 1)
	}
	d.mu.Unlock()
	go func() {
		io.Copy(io.Discard, f)
		f.Close()
		d.mu.Lock()
		d.pipes = slices.DeleteFunc(d.pipes, func(other *os.File) bool { return other == f })
		d.mu.Unlock()
	}()
}
