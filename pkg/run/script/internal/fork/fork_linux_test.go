//go:build amd64 || arm64

package fork

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain can be a program that Exec starts.
func TestMain(m *testing.M) {
	switch os.Args[len(os.Args)-1] {
	case "owner":
		owner, _, e := syscall.RawSyscall(unix.SYS_FCNTL, 3, unix.F_GETOWN, 0)
		if e != 0 { // a small negative number looks like an error
			owner = -uintptr(e)
		}
		fmt.Print(int32(owner) == -int32(unix.Getpgrp()))
	case "limit":
		pid, err := plain("/bin/sh", []string{"sh", "-c", "ulimit -Sn"},
			&syscall.ProcAttr{Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}})
		if err != nil {
			panic(err)
		}
		collect(pid)
	default:
		os.Exit(m.Run())
	}
}

// pipe returns a pipe of this test.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

type execer func(program string, argv []string, attr *syscall.ProcAttr) (int, error)

func plain(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	return Exec(program, argv, attr, nil, 0)
}

// output starts a program, and returns its standard output. owned are files that its group owns.
func output(t *testing.T, start execer, attr syscall.ProcAttr, program string, argv ...string) string {
	t.Helper()
	r, w := pipe(t)
	if attr.Files == nil {
		attr.Files = []uintptr{^uintptr(0), 0, 2}
	}
	attr.Files[1] = w.Fd()
	attr.Sys = &syscall.SysProcAttr{Setpgid: !attr.Sys.Setsid, Setsid: attr.Sys.Setsid, Pdeathsig: syscall.SIGKILL}
	pid, err := start(program, argv, &attr)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	out, _ := io.ReadAll(r)
	collect(pid)
	return string(out)
}

// The group of a program is the owner before the program can ask, with any mark.
func TestOwner(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		watched, end := pipe(t)
		start := func(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
			return Exec(program, argv, attr, []int{int(watched.Fd()), int(end.Fd())}, uint64(i)*0x123456789abcdef)
		}
		attr := syscall.ProcAttr{
			Env:   os.Environ(),
			Sys:   &syscall.SysProcAttr{Setsid: i%2 == 0},
			Files: []uintptr{^uintptr(0), 0, 2, []uintptr{watched.Fd(), end.Fd()}[i/2%2]},
		}
		if got := output(t, start, attr, self, self, "owner"); got != "true" {
			t.Fatalf("start %d: the group is the owner: %q", i, got)
		}
	}
}

// A program gets everything as from Go: its folder, environment, group, signals, files and limits.
func TestSameAsGo(t *testing.T) {
	show := `pwd; env; grep -e ^SigBlk -e ^SigIgn -e ^SigCgt /proc/self/status; ulimit -Sn; ulimit -Hn; ls /proc/$$/fd
		test $$ = $(ps -o pgid= -p $$) && echo leads; test $$ = $(ps -o sid= -p $$) && echo session`
	dir := t.TempDir()
	for name, session := range map[string]bool{"group": false, "session": true} {
		attr := syscall.ProcAttr{
			Dir: dir, Env: []string{"A=b", "PATH=" + os.Getenv("PATH")}, Sys: &syscall.SysProcAttr{Setsid: session},
		}
		got := output(t, plain, attr, "/bin/sh", "sh", "-c", show)
		if want := output(t, syscall.ForkExec, attr, "/bin/sh", "sh", "-c", show); got != want || got == "" {
			t.Errorf("%s:\n%s\nwith Go:\n%s", name, got, want)
		}
	}
}

// Files go to their numbers, also if other files have these numbers here. No other files are inherited.
func TestFiles(t *testing.T) {
	show := func(start execer) string {
		attr := syscall.ProcAttr{Sys: &syscall.SysProcAttr{}, Files: []uintptr{^uintptr(0), 0, 2}}
		var here []uintptr
		for i := range 3 {
			r, w := pipe(t)
			defer r.Close()
			fmt.Fprint(w, i)
			w.Close()
			for uintptr(len(attr.Files)) <= r.Fd() {
				attr.Files = append(attr.Files, ^uintptr(0))
			}
			here = append(here, r.Fd())
		}
		script := ""
		for i, fd := range here {
			attr.Files[fd] = here[(i+1)%3]
			script += fmt.Sprintf("cat <&%d; ", fd)
		}
		script += "echo; for i in {0..255}; do [ ! -e /proc/$$/fd/$i ] || echo -n $i,; done"
		return output(t, start, attr, "/bin/bash", "bash", "-c", script)
	}
	want := show(syscall.ForkExec)
	if got := show(plain); got != want || !strings.HasPrefix(got, "120\n1,2,") {
		t.Errorf("%q, with Go: %q", got, want)
	}
}

// A program gets the limit on open files that was there before Go raised it.
func TestLimit(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/bin/sh", "-c", `ulimit -Sn 500; exec "$0" limit`, self).CombinedOutput()
	if string(out) != "500\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// A program that cannot run is an error of Go's kind. No process and no descriptor is left.
func TestFailures(t *testing.T) {
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	empty := t.TempDir() + "/empty"
	os.WriteFile(empty, nil, 0o755)
	attr := func(dir string) *syscall.ProcAttr {
		fd := -1
		return &syscall.ProcAttr{Dir: dir, Sys: &syscall.SysProcAttr{Setpgid: true, PidFD: &fd}}
	}
	plain("/bin/true", []string{"true"}, attr(""))
	before := descriptors()
	for program, want := range map[string]error{
		"/nonexistent": unix.ENOENT, "/": unix.EACCES, empty: unix.ENOEXEC, "a\x00b": unix.EINVAL,
	} {
		for _, dir := range []string{"", "/nonexistent"} {
			if dir != "" && want != unix.EINVAL {
				want = unix.ENOENT
			}
			if pid, err := plain(program, []string{"x"}, attr(dir)); pid > 0 && err == nil || err != want {
				t.Errorf("%q in %q: %d, %v", program, dir, pid, err)
			}
		}
	}
	if after := descriptors(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil {
			break
		} else if pid == 0 {
			continue // /bin/true has not ended yet
		}
	}
}

// The descriptor of a process is the one of the process that was started.
func TestPidFD(t *testing.T) {
	fd := -1
	pid, err := plain("/bin/sleep", []string{"sleep", "600"},
		&syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true, PidFD: &fd}})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0); err != nil {
		t.Error(err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || status.Signal() != unix.SIGTERM {
		t.Error(err, status)
	}
}

// Starts at the same time, with Go's own starts among them, do not disturb each other.
func TestTogether(t *testing.T) {
	done := make(chan error)
	for i := range 4 {
		go func() {
			for range 25 {
				if i == 0 {
					if err := exec.Command("/bin/true").Run(); err != nil {
						done <- err
						return
					}
					continue
				}
				pid, err := plain("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
				if err != nil {
					done <- err
					return
				}
				collect(pid)
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
