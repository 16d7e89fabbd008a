//go:build unix

package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/code"
)

var chosen = code.OperatorFile

func write(t testing.TB, mode os.FileMode, name, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(body), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
	return file
}

func env() []string { return []string{"PATH=" + os.Getenv("PATH")} }

func run(t testing.TB, body string) Result {
	t.Helper()
	file := write(t, 0o755, "s.sh", "#!/bin/bash\n"+body)
	return new(Runner).Run(context.Background(), Spec{Script: chosen(file), Env: env()})
}

// The output of a script ends with it, also if other scripts start at that moment.
func TestOutputEnds(t *testing.T) {
	var r Runner
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 100 {
				if res := r.Run(context.Background(), Spec{Argv: []string{"true"}, Env: env()}); res.Status != 0 || !res.Alone {
					t.Errorf("%+v", res)
					return
				}
			}
		})
	}
	group.Wait()
	if len(r.waits) != 1 {
		t.Errorf("%d wait sets are left", len(r.waits))
	}
}

func TestOutcome(t *testing.T) {
	for _, tc := range []struct {
		body           string
		status, signal int
		stdout, stderr string
	}{
		{"echo out; echo err >&2", 0, 0, "out\n", "err\n"},
		{"printf 'a\\0b'; exit 7", 7, 0, "a\x00b", ""},
		{"kill -TERM $$", 143, 15, "", ""},
		{"kill -KILL $$", 137, 9, "", ""},
		{"cat; echo end", 0, 0, "end\n", ""}, // T-45: standard input is empty
	} {
		res := run(t, tc.body)
		if res.Status != tc.status || res.Signal != tc.signal || string(res.Stdout) != tc.stdout ||
			string(res.Stderr) != tc.stderr || res.Cause != nil || !res.Alone {
			t.Errorf("%s: %+v", tc.body, res)
		}
	}
}

// T-43, T-44, T-181.
func TestHowAFileIsStarted(t *testing.T) {
	python := LookPath("python3", os.Getenv("PATH"))
	for _, tc := range []struct {
		name, body string
		mode       os.FileMode
		status     int
		stdout     string
	}{
		{"plain", "echo $0 | grep -c plain", 0o755, 0, "1\n"}, // ENOEXEC: bash runs it
		{"envbash", "#!/usr/bin/env bash\necho ${BASH_VERSION:+bash} ${0##*/}", 0o755, 0, "bash envbash\n"},
		{"noexec.sh", "#!/bin/cat\necho hi", 0o644, 0, "hi\n"},
		{"noexec.bash", "echo hi", 0o644, 0, "hi\n"},
		{"noexec", "#!/bin/cat\nhi", 0o644, 0, "#!/bin/cat\nhi"},
		{"noexec2", "#!/usr/bin/tail -n1\nhi\n", 0o644, 0, "hi\n"},
		{"noexecenv", "#!/usr/bin/env cat\nhi", 0o644, 0, "#!/usr/bin/env cat\nhi"},
		{"noexectab", "#!/usr/bin/tail\t-n1\nhi\n", 0o644, 0, "hi\n"},
		{"noexecenvs", "#!/usr/bin/env -S sed -n 2p\nhi\n", 0o644, 0, "hi\n"},
		{"neither", "echo hi", 0o644, 126, ""},
		// Most interpreters ignore a byte order mark, which hides the first line from the system.
		{"marked.sh", "\ufeff#!/bin/cat\nhi", 0o755, 0, "\ufeff#!/bin/cat\nhi"},
		{"markedenv.sh", "\ufeff#!/usr/bin/env cat\nhi", 0o755, 0, "\ufeff#!/usr/bin/env cat\nhi"},
		{"marked", "\ufeff#!/usr/bin/tail -n1\nhi\n", 0o644, 0, "hi\n"},
		{"lost", "#!/no/such/interpreter\n", 0o755, 127, ""},
		{"lostenv", "#!/usr/bin/env no-such-program-here\n", 0o755, 127, ""},
	} {
		file := write(t, tc.mode, tc.name, tc.body)
		res := new(Runner).Run(context.Background(), Spec{Script: chosen(file), Env: env()})
		if res.Status != tc.status || string(res.Stdout) != tc.stdout {
			t.Errorf("%s: status %d, stdout %q, stderr %q", tc.name, res.Status, res.Stdout, res.Stderr)
		}
		if tc.status >= 126 && len(res.Stderr) == 0 {
			t.Errorf("%s: no reason given", tc.name)
		}
	}
	if python != "" {
		file := write(t, 0o644, "tool", "#!/usr/bin/env python3\nprint('snake')\n")
		res := new(Runner).Run(context.Background(), Spec{Script: chosen(file), Env: env()})
		if string(res.Stdout) != "snake\n" {
			t.Errorf("python: %+v", res)
		}
	}
}

func TestShebang(t *testing.T) {
	for in, want := range map[string][]string{
		"#!/bin/sh\n": {"/bin/sh"}, "#! /bin/sh -e -u \r\n": {"/bin/sh", "-e -u"}, "#!/bin/sh": {"/bin/sh"},
		"#!\n": nil, "echo": nil, "#!" + strings.Repeat("x", headSize): nil,
	} {
		head := in
		if len(head) > headSize {
			head = head[:headSize]
		}
		if got := shebang([]byte(head)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%.20q: %q", in, got)
		}
	}
}

// T-46, T-47: scripts inherit no other descriptors and no ignored signals.
func TestWhatAScriptInherits(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res := run(t, `for n in {0..254}; do [ ! -e "/proc/$$/fd/$n" ] || echo "$n"; done`)
	if runtime.GOOS == "linux" {
		// Bash uses 255 for the script that it reads.
		if got := strings.Join(strings.Fields(string(res.Stdout)), " "); got != "0 1 2" {
			t.Errorf("descriptors %q", got)
		}
		res = new(Runner).Run(context.Background(), Spec{Argv: []string{"grep", "SigIgn", "/proc/self/status"},
			Env: env()})
		var ignored uint64
		// Signals 32 and 33 belong to the C library. Its posix_spawn ignores them in every process,
		// and no program can change that.
		const internal = 1<<31 | 1<<32
		if _, err := fmt.Sscanf(string(res.Stdout), "SigIgn:\t%x\n", &ignored); err != nil || ignored&^internal != 0 {
			t.Errorf("ignored signals: %q, %v", res.Stdout, err)
		}
	}
	res = new(Runner).Run(context.Background(), Spec{
		Script: chosen(write(t, 0o755, "s", "#!/bin/bash\necho nine >&9")), Env: env(), Extra: map[int]uintptr{9: f.Fd()},
	})
	if res.Status != 1 { // the descriptor is open, but only for reading
		t.Errorf("%+v", res)
	}
}

// T-131, T-132, T-133: the limit itself is allowed, one byte more is not.
func TestLimits(t *testing.T) {
	for _, tc := range []struct {
		body  string
		cause error
	}{
		{"head -c 1000 /dev/zero", nil},
		{"head -c 1001 /dev/zero; sleep 60", ErrStdoutLimit},
		{"trap '' TERM; cat /dev/zero", ErrStdoutLimit},
		{"head -c 500 /dev/zero >&2", nil},
		{"head -c 501 /dev/zero >&2; sleep 60", ErrStderrLimit},
	} {
		res := new(Runner).Run(context.Background(), Spec{
			Script: chosen(write(t, 0o755, "s", "#!/bin/bash\n"+tc.body)), Env: env(), StdoutLimit: 1000, StderrLimit: 500,
			Grace: 100 * time.Millisecond,
		})
		if res.Cause != tc.cause {
			t.Errorf("%s: cause %v", tc.body, res.Cause)
		}
	}
}

func TestLargeOutput(t *testing.T) {
	res := run(t, "head -c 9000000 /dev/zero | tr '\\0' x")
	if len(res.Stdout) != 9000000 || strings.Trim(string(res.Stdout), "x") != "" {
		t.Errorf("%d bytes", len(res.Stdout))
	}
}

// P-1603, T-157: the whole group gets SIGTERM, and SIGKILL after the grace period.
func TestTermination(t *testing.T) {
	var res Result
	for timeout := 200 * time.Millisecond; timeout < time.Minute; timeout *= 4 {
		res = new(Runner).Run(context.Background(), Spec{
			Script: chosen(write(t, 0o755, "s", "#!/bin/bash\ntrap 'echo term; exit 3' TERM; sleep 60 & wait")), Env: env(),
			Timeout: timeout,
		})
		if res.Signal != 15 { // otherwise it had not reached its trap
			break
		}
	}
	if res.Cause != ErrTimedOut || res.Status != 3 {
		t.Errorf("a script that ends on TERM: %+v", res)
	}
	pids := filepath.Join(t.TempDir(), "pids")
	stubborn := write(t, 0o755, "s", `#!/bin/bash
trap '' TERM INT HUP
( trap '' TERM; echo $BASHPID >>"`+pids+`"; exec 1>&- 2>&-; while :; do sleep 1; done ) &
echo $$ >>"`+pids+`"
while :; do sleep 1; done`)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("cancelled")
	res = new(Runner).Run(ctx, Spec{
		Script: chosen(stubborn), Env: env(), Grace: 50 * time.Millisecond, Interval: time.Millisecond,
		Watch: func(time.Time) error {
			if b, _ := os.ReadFile(pids); strings.Count(string(b), "\n") == 2 {
				cancel(why)
			}
			return nil
		},
	})
	if res.Cause != why || res.Signal != 9 {
		t.Errorf("a script that ignores TERM: %+v", res)
	}
	awaitGone(t, pids)
}

// awaitGone waits until no process listed in a file is alive.
func awaitGone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(b)) {
		pid, _ := strconv.Atoi(field)
		await(t, "the end of process "+field, func() bool { return !alive(pid) })
	}
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !done(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for " + what)
		}
	}
}

func alive(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// T-48: processes that remain after a script are not waited for, not killed, and not ended by a closed pipe.
func TestBackgroundChildren(t *testing.T) {
	dir := t.TempDir()
	fifo, done := filepath.Join(dir, "go"), filepath.Join(dir, "done")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := new(Runner)
	res := r.Run(context.Background(), Spec{Env: env(), Script: chosen(write(t, 0o755, "s", `#!/bin/bash
( read -r _ <"`+fifo+`"; head -c 200000 /dev/zero; echo late; echo ok >"`+done+`.tmp"; mv "`+done+`.tmp" "`+done+`" ) &
echo early`))})
	if res.Status != 0 || string(res.Stdout) != "early\n" || res.Alone {
		t.Fatalf("%+v", res)
	}
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(w)
	w.Close()
	await(t, "the end of the background child", func() bool {
		_, err := os.Stat(done)
		return err == nil
	})
}

func TestWatch(t *testing.T) {
	why := errors.New("enough")
	ticks := 0
	res := new(Runner).Run(context.Background(), Spec{
		Script: chosen(write(t, 0o755, "s", "#!/bin/bash\nsleep 60")), Env: env(), Interval: time.Millisecond,
		Watch: func(time.Time) error {
			if ticks++; ticks == 5 {
				return why
			}
			return nil
		},
	})
	if res.Cause != why || ticks != 5 {
		t.Errorf("%d ticks, %+v", ticks, res)
	}
}

func TestContextEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	mark := filepath.Join(t.TempDir(), "mark")
	res := new(Runner).Run(ctx, Spec{Argv: []string{"touch", mark}, Env: env()})
	if _, err := os.Stat(mark); err == nil || res.Cause != context.Canceled {
		t.Errorf("%+v", res)
	}
}

func TestKillAll(t *testing.T) {
	r := new(Runner)
	dir := t.TempDir()
	results := make(chan Result)
	for i := range 8 {
		ready := filepath.Join(dir, strconv.Itoa(i))
		go func() {
			results <- r.Run(context.Background(), Spec{Argv: []string{"bash", "-c", "trap '' TERM; >" + ready +
				"; while :; do sleep 9; done"}, Env: env()})
		}()
	}
	await(t, "8 running scripts", func() bool {
		list, _ := os.ReadDir(dir)
		return len(list) == 8
	})
	r.KillAll()
	for range 8 {
		if res := <-results; res.Signal != 9 {
			t.Errorf("%+v", res)
		}
	}
	if res := r.Run(context.Background(), Spec{Argv: []string{"true"}, Env: env()}); res.Status == 0 {
		t.Error("a script was started after KillAll")
	}
}

// A run leaves no descriptor and no process.
func TestNothingLeaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	r := new(Runner)
	file := write(t, 0o755, "s", "#!/bin/bash\necho hi")
	once := func() {
		if res := r.Run(context.Background(), Spec{Script: chosen(file), Env: env()}); res.Status != 0 || !res.Alone {
			t.Fatalf("%+v", res)
		}
	}
	once()
	before := descriptors(t)
	for range 100 {
		once()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// If the process that runs scripts is killed, its scripts and their children are killed, even if
// they ignore all signals.
func TestKilledWithUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can do it")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command(os.Args[0], "-test.run=TestHelperRunner$")
	cmd.Env = append(os.Environ(), "SCRIPT_TEST_PIDS="+pids)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != "running" {
	}
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	awaitGone(t, pids)
}

// TestHelperRunner is the process that TestKilledWithUs kills.
func TestHelperRunner(t *testing.T) {
	pids := os.Getenv("SCRIPT_TEST_PIDS")
	if pids == "" {
		return
	}
	const scripts, children = 4, 3
	r := new(Runner)
	var watched atomic.Int32 // number of scripts that Run watches
	for range scripts {
		var first sync.Once
		watch := func(time.Time) error {
			first.Do(func() { watched.Add(1) })
			return nil
		}
		go r.Run(context.Background(), Spec{Watch: watch, Env: env(), Argv: []string{"bash", "-c", `
trap '' TERM HUP INT QUIT
for i in 1 2; do ( trap '' TERM; echo $BASHPID >>"$0"; exec >&- 2>&-; while :; do sleep 9; done ) & done
echo $$ >>"$0"
while :; do sleep 9; done`, pids}})
	}
	for {
		if b, _ := os.ReadFile(pids); strings.Count(string(b), "\n") == scripts*children && watched.Load() == scripts {
			fmt.Println("running")
			select {}
		}
		runtime.Gosched()
	}
}

func FuzzCommand(f *testing.F) {
	f.Add("#!/usr/bin/env -S a=b c d\n", true)
	f.Fuzz(func(t *testing.T, head string, executable bool) {
		mode := os.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		argv, err := command("/x/file", mode, []byte(head[:min(len(head), headSize)]))
		if err == nil && (len(argv) == 0 || argv[len(argv)-1] != "/x/file" || argv[0] == "") {
			t.Fatalf("%q: %q", head, argv)
		}
	})
}

func BenchmarkRun(b *testing.B) {
	r := new(Runner)
	file := write(b, 0o755, "s", "#!/bin/bash\n")
	b.ReportAllocs()
	for b.Loop() {
		if res := r.Run(context.Background(), Spec{Script: chosen(file), Env: env()}); res.Status != 0 {
			b.Fatal(res)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	file := write(b, 0o755, "s", "#!/bin/bash\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := exec.Command("bash", file).Output(); err != nil {
			b.Fatal(err)
		}
	}
}

// M-55: scripts that wait are checked less often. The script takes as long as a hundred intervals.
func TestPace(t *testing.T) {
	looks := 0
	res := new(Runner).Run(context.Background(), Spec{
		Script: chosen(write(t, 0o755, "s", "#!/bin/bash\nsleep 0.1")), Env: env(), Interval: time.Millisecond,
		Watch: func(time.Time) error { looks++; return nil },
		Pace:  func() (time.Duration, *Waker) { return time.Hour, nil },
	})
	if looks != 1 || res.Status != 0 {
		t.Errorf("looked at %d times: %+v", looks, res)
	}
}

// M-55: a waker ends the pause before the next look.
func TestWaker(t *testing.T) {
	waker, err := NewWaker()
	if err != nil {
		t.Fatal(err)
	}
	defer waker.Close()
	looks := 0
	res := new(Runner).Run(context.Background(), Spec{
		Script: chosen(write(t, 0o755, "s", "#!/bin/bash\nsleep 3600")), Env: env(),
		Interval: time.Millisecond,
		Watch: func(time.Time) error {
			if looks++; looks == 3 {
				return ErrTimedOut // a script that waits for ever is woken twice
			}
			go waker.Wake()
			return nil
		},
		Pace: func() (time.Duration, *Waker) { return time.Hour, waker },
	})
	if looks != 3 || res.Cause != ErrTimedOut {
		t.Errorf("looked at %d times: %+v", looks, res)
	}
}
