// Package refuse runs tests under a seccomp filter that refuses system calls, as the filters of systemd and of
// container engines do.
package refuse

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Errors are the errors with which filters refuse a call.
var Errors = []unix.Errno{unix.ENOSYS, unix.EPERM, unix.EACCES}

// Start starts a command whose system calls with these numbers fail. Only the thread that forks gets the filter, and
// it ends afterwards.
func Start(cmd *exec.Cmd, with unix.Errno, calls ...uintptr) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() { // the first thread cannot end; the next goroutine gets another one
			started <- Start(cmd, with, calls...)
			runtime.UnlockOSThread()
			return
		}
		err := filter(with, calls)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// filter refuses system calls of the calling thread and of its children.
func filter(with unix.Errno, calls []uintptr) error {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for _, number := range calls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(with)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// Rerun runs tests of this package again, in a process whose system calls with these numbers fail. run has the form of
// go test's -run. A test that would run itself again calls [Rerunning] first.
func Rerun(t *testing.T, run string, with unix.Errno, calls ...uintptr) {
	t.Helper()
	if Rerunning() {
		t.Fatal("the tests that run again include this one")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	cmd := exec.CommandContext(t.Context(), program, "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()),
		"-test.run="+run)
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stdout, cmd.Stderr = &output, &output
	err = Start(cmd, with, calls...)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("left out: the kernel has no filters: %v", err)
	}
	if err == nil {
		err = cmd.Wait()
	}
	if out := output.String(); err != nil || !strings.Contains(out, "--- PASS") {
		t.Errorf("with calls that fail with %v: %v\n%s", with, err, out)
	}
}

const variable = "MCPBASH_TEST_REFUSED"

// Rerunning reports whether [Rerun] runs this process.
func Rerunning() bool { return os.Getenv(variable) != "" }
