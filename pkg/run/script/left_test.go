//go:build unix

package script

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// T-42: a script leads its process group. It also leads a session if this process has a terminal.
func TestGroup(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "go")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r, result := new(Runner), make(chan Result)
	go func() {
		result <- r.Run(context.Background(), Spec{Env: env(), Argv: []string{"bash", "-c", `echo $$ >pid.tmp
mv pid.tmp pid; read -r _ <go`}, Dir: dir})
	}()
	var pid int
	await(t, "the script's number", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 0
	})
	session, err := unix.Getsid(pid)
	group, err2 := unix.Getpgid(pid)
	if err != nil || err2 != nil || (session == pid) != hasTerminal() || group != pid {
		t.Errorf("process %d: session %d, group %d, %v, %v", pid, session, group, err, err2)
	}
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := <-result; res.Cause != nil || res.Signal != 0 {
		t.Errorf("%+v", res)
	}
}

// leaving runs Bash code that leaves child processes, whose numbers are in a file.
func leaving(t *testing.T, r *Runner, text string) (Result, string) {
	t.Helper()
	pids := filepath.Join(t.TempDir(), "pids")
	res := r.Run(context.Background(), Spec{Env: append(env(), "PIDS="+pids), Argv: []string{"bash", "-c", text}})
	if res.Status != 0 {
		t.Fatalf("%+v", res)
	}
	return res, pids
}

// T-48, T-48a: a script that leaves a process in its group is reported, whatever happens to its
// output. A script whose children have ended, or are about to, is not.
func TestLeftIsReported(t *testing.T) {
	for text, want := range map[string]bool{
		`sleep 600 &`:                            true,
		`sleep 600 >/dev/null 2>&1 &`:            true,
		`(trap '' HUP; sleep 600 & sleep 600) &`: true,
		`true & wait`:                            false,
		`true`:                                   false,
	} {
		r := new(Runner)
		res, _ := leaving(t, r, text)
		if (res.Left != 0) != want {
			t.Errorf("%s: %+v", text, res)
		}
		left := r.End()
		if (len(left) == 1 && left[0] == res.Left) != want || groupAlive(max(res.Left, 1)) && want {
			t.Errorf("%s: ended %d of %+v", text, left, res)
		}
	}
}

// P-908: End terminates remaining groups, first with SIGTERM. Processes that ignore it are killed.
// Processes that left the group continue.
func TestEnd(t *testing.T) {
	r := new(Runner)
	_, polite := leaving(t, r, `mkfifo "$PIDS.on"
(trap 'echo bye >"$PIDS.said"; kill $!; exit' TERM; echo $BASHPID >"$PIDS"; sleep 600 & echo >"$PIDS.on"; wait) >/dev/null 2>&1 &
read -r _ <"$PIDS.on"`)
	_, stubborn := leaving(t, r, `mkfifo "$PIDS.on"
(trap '' TERM; echo $BASHPID >"$PIDS"; echo >"$PIDS.on"; while :; do sleep 600; done) &
read -r _ <"$PIDS.on"`)
	res, daemon := leaving(t, r, `mkfifo "$PIDS.on"
setsid bash -c 'echo $$ >"$PIDS"; echo >"$PIDS.on"; exec sleep 600' >/dev/null 2>&1 &
read -r _ <"$PIDS.on"`)
	if res.Left != 0 {
		t.Errorf("a process in a session of its own is reported: %+v", res)
	}
	for range 5 { // other scripts in between
		leaving(t, r, `true`)
	}
	if left := r.End(); len(left) != 2 {
		t.Errorf("ended %v", left)
	}
	awaitGone(t, polite)
	awaitGone(t, stubborn)
	if said, err := os.ReadFile(polite + ".said"); string(said) != "bye\n" {
		t.Errorf("%q, %v", said, err)
	}
	b, _ := os.ReadFile(daemon)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if pid == 0 || !alive(pid) {
		t.Errorf("process %d in a session of its own was ended", pid)
	}
	unix.Kill(pid, unix.SIGKILL)
	if res := r.Run(context.Background(), Spec{Argv: []string{"true"}, Env: env()}); res.Status == 0 {
		t.Error("a script was started after the end")
	}
}

// P-908: after End, no process of a script runs, whether or not its context has ended, and whether or not it
// ignores SIGTERM.
func TestEndOfRunningScripts(t *testing.T) {
	for _, text := range []string{``, `trap '' TERM; `} {
		for _, cancelled := range []bool{true, false} {
			dir, r := t.TempDir(), new(Runner)
			ctx, cancel := context.WithCancel(context.Background())
			result := make(chan Result, 1)
			go func() {
				result <- r.Run(ctx, Spec{Env: env(), Dir: dir,
					Argv: []string{"bash", "-c", text + `for i in 1 2 3 4; do while :; do : >file$i; done & done
echo $$ >pid.tmp; mv pid.tmp pid; while :; do : >file; done`}})
			}()
			pids := filepath.Join(dir, "pid")
			await(t, "the script", func() bool { _, err := os.Stat(pids); return err == nil })
			if cancelled {
				cancel()
			}
			r.End()
			b, _ := os.ReadFile(pids)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || groupAlive(pid) {
				t.Errorf("%q, cancelled %v: %q runs after the end", text, cancelled, b)
			}
			cancel()
			<-result
		}
	}
}

// P-908: a process with the number of an earlier group is not signalled.
func TestEndOfAReusedNumber(t *testing.T) {
	other := exec.Command("sleep", "600")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	r := &Runner{left: []leftGroup{{id: other.Process.Pid}}}
	if left := r.End(); left != nil {
		t.Errorf("ended %v", left)
	}
	if !alive(other.Process.Pid) {
		t.Error("it was ended")
	}
	other.Process.Kill()
	other.Wait()
}

// Ended groups are removed, and the number of lifelines is limited.
func TestLeftIsForgotten(t *testing.T) {
	r := new(Runner)
	for range mostTied() + 3 {
		leaving(t, r, `sleep 600 >/dev/null 2>&1 &`)
	}
	tied := 0
	for _, g := range r.left {
		if g.line != nil {
			tied++
		}
		if !g.exists() {
			t.Errorf("group %d has ended", g.id)
		}
	}
	if len(r.left) != mostTied()+3 || tied > mostTied() {
		t.Errorf("%d groups, %d lifelines", len(r.left), tied)
	}
	ended := r.left[0].id
	unix.Kill(-ended, unix.SIGKILL)
	await(t, "the end of a group", func() bool { return !r.left[0].exists() })
	leaving(t, r, `sleep 600 >/dev/null 2>&1 &`)
	for _, g := range r.left {
		if g.id == ended {
			t.Error("a group that has ended is remembered")
		}
	}
	if left := r.End(); len(left) != mostTied()+3 {
		t.Errorf("ended %d", len(left))
	}
}

// T-53: lifelines of remaining groups leave descriptors for other scripts.
func TestTiedWithin(t *testing.T) {
	for descriptors, want := range map[int]int{0: 32, 64: 1, 512: 8, 1024: 16, 2048: 32, 1 << 30: 32} {
		if got := tiedWithin(descriptors); got != want {
			t.Errorf("%d of %d descriptors", got, descriptors)
		}
	}
}
