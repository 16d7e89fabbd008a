//go:build unix

package script

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain can run the tests without process descriptors, as on systems without them.
func TestMain(m *testing.M) {
	if os.Getenv("SCRIPT_TEST_NO_PIDFD") != "" {
		hasPidfd = func() bool { return false }
	}
	os.Exit(m.Run())
}

// The tests also pass without process descriptors.
func TestWithoutPidfd(t *testing.T) {
	if os.Getenv("SCRIPT_TEST_NO_PIDFD") != "" || !hasPidfd() {
		t.Skip("this is how the tests run already")
	}
	cmd := exec.Command(os.Args[0], "-test.skip=TestWithoutPidfd")
	cmd.Env = append(os.Environ(), "SCRIPT_TEST_NO_PIDFD=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// T-53: a lack of any descriptor fails the start with an error. Scripts start again when there are descriptors.
// The test runs in another process, because remains of other tests close their descriptors at any time.
func TestNoDescriptors(t *testing.T) {
	const alone = "MCPBASH_TEST_ALONE"
	if os.Getenv(alone) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestNoDescriptors$", "-test.count=1")
		again.Env = append(os.Environ(), alone+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := new(Runner)
	spec := Spec{Argv: []string{"echo", "hi"}, Env: env()}
	if res := r.Run(context.Background(), spec); string(res.Stdout) != "hi\n" {
		t.Fatalf("%+v", res)
	}
	free, before := nextDescriptor(t), descriptors(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
	failures, started := 0, false
	for spare := uint64(0); !started && spare < 64; spare++ {
		r.mu.Lock()
		if r.spare != nil { // so that the lifeline is missing too
			r.spare.close()
			r.spare = nil
		}
		r.mu.Unlock()
		low := old
		low.Cur = free + spare
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		res := r.Run(context.Background(), spec)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		if started = res.Status == 0; started {
			break
		}
		failures++
		if res.Status != statusNoExec || !strings.Contains(string(res.Stderr), "too many files open: raise the limit") {
			t.Errorf("%d spare: status %d, %s", spare, res.Status, res.Stderr)
		}
	}
	if failures < 6 || !started {
		t.Errorf("%d failures, started %t", failures, started)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// nextDescriptor returns the number that the next file gets.
func nextDescriptor(t *testing.T) uint64 {
	t.Helper()
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	return uint64(fd)
}

// T-48: the number of descriptors for remaining child processes is limited.
func TestManyLeftBehind(t *testing.T) {
	r := new(Runner)
	var ends []int
	for range maxDrained + 10 {
		read, write, err := newPipe()
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, write)
		r.drain.take(read)
	}
	for i, end := range ends {
		_, err := unix.Write(end, []byte("late"))
		if (err == unix.EPIPE) != (i < 10) {
			t.Errorf("pipe %d: %v", i, err)
		}
		unix.Close(end)
	}
	await(t, "the end of the pipes", func() bool {
		r.drain.mu.Lock()
		defer r.drain.mu.Unlock()
		return len(r.drain.pipes) == 0
	})
}
