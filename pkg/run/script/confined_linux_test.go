package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
)

// A fixture has two directories, one of which confined scripts may use, and a runner.
type fixture struct {
	t                   *testing.T
	private, other, dir string
	env                 []string
	runner              Runner
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	if confine.Offered().ABI == 0 {
		t.Skip("the kernel has no Landlock")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &fixture{t: t, dir: dir, private: dir + "/private", other: dir + "/other"}
	for _, d := range []string{s.private, s.other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d+"/file", []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(env(), "PRIVATE="+s.private, "OTHER="+s.other, "LC_ALL=C")
	return s
}

// profile returns a profile that may start programs and write to one directory. read distinguishes it from others.
func (s *fixture) profile(read string) *confine.Profile {
	return &confine.Profile{Write: []string{s.private}, Read: []string{filepath.Join(s.dir, read)}, Process: true}
}

// A failed confinement starts nothing, is tried again the next time, and leaves no thread (CF-4).
func TestConfinementFails(t *testing.T) {
	s := newFixture(t)
	failure := errors.New("injected")
	enter = func(confine.Kernel, *confine.Profile) error { return failure }
	t.Cleanup(func() { enter = confine.Kernel.Enter })
	before := threads(t)
	for range 50 {
		if c, err := s.runner.Confine(confine.Offered(), s.profile("nothing")); c != nil || err != failure {
			t.Fatalf("%v, %v", c, err)
		}
	}
	settle(t, func() bool { return threads(t) < before+20 && s.runner.Threads() == 0 })
	enter = confine.Kernel.Enter
	c, err := s.runner.Confine(confine.Offered(), s.profile("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if n := s.runner.Threads(); n != 1 {
		t.Errorf("%d threads, want 1", n)
	}
	res := s.runner.Run(context.Background(), Spec{Argv: []string{"cat", s.other + "/file"}, Env: s.env, Confined: c})
	if res.Status == 0 {
		t.Errorf("%+v", res)
	}
}

// Scripts with the same confinement share a thread. The number of idle threads is limited. They end
// after some time, but never before their scripts.
func TestConfinementsComeAndGo(t *testing.T) {
	s := newFixture(t)
	k, same := confine.Offered(), s.profile("same")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			p := same
			if i%2 == 0 {
				p = s.profile(strconv.Itoa(i))
			}
			c, err := s.runner.Confine(k, p)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Release()
			res := s.runner.Run(context.Background(), Spec{
				Argv: []string{"bash", "-c", `cat "$PRIVATE/file" && ! cat "$OTHER/file"`}, Env: s.env, Confined: c,
			})
			if res.Status != 0 {
				t.Errorf("%+v", res)
			}
		})
	}
	all.Wait()
	confined := &s.runner.confined
	count := func() int { confined.mu.Lock(); defer confined.mu.Unlock(); return len(confined.byKey) }
	if n := count(); n != 13 {
		t.Errorf("%d confinements, want 13", n)
	}
	for i := range 2 * idleConfinements {
		c, err := s.runner.Confine(k, s.profile("idle"+strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		c.Release()
	}
	if n := count(); n != idleConfinements {
		t.Errorf("%d confinements, want %d", n, idleConfinements)
	}
	settle(t, func() bool { return s.runner.Threads() == idleConfinements })
	held, err := s.runner.Confine(k, same)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(s.private+"/go", 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan Result)
	go func() {
		done <- s.runner.Run(context.Background(), Spec{
			Argv: []string{"bash", "-c", `echo >"$PRIVATE/on"; read -r _ <"$PRIVATE/go"; echo end`},
			Env:  s.env, Confined: held,
		})
	}()
	settle(t, func() bool { _, err := os.Stat(s.private + "/on"); return err == nil })
	confined.mu.Lock()
	confined.sweep(0)
	confined.mu.Unlock()
	if n := count(); n != 1 {
		t.Errorf("%d confinements, want the one in use", n)
	}
	if err := os.WriteFile(s.private+"/go", []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := <-done; string(res.Stdout) != "end\n" {
		t.Errorf("%+v", res)
	}
	tid := held.c.thread
	held.Release()
	confined.mu.Lock()
	confined.sweep(0)
	confined.mu.Unlock()
	settle(t, func() bool { _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid)); return err != nil })
}

// The kernel kills confined scripts with this process, like other scripts.
func TestConfinedDeathSignal(t *testing.T) {
	s := newFixture(t)
	c, err := s.runner.Confine(confine.Offered(), s.profile("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	done, started := make(chan Result), make(chan bool)
	go func() {
		tell := sync.OnceFunc(func() { close(started) })
		done <- s.runner.Run(context.Background(), Spec{
			Argv: []string{"sleep", "60"}, Env: s.env, Confined: c,
			Watch: func(time.Time) error { tell(); return nil },
		})
	}()
	<-started
	c.c.wake.hangUp() // the thread ends as if the process had ended
	if res := <-done; res.Signal != int(unix.SIGKILL) {
		t.Errorf("%+v", res)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// settle waits until a condition is true.
func settle(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to be")
		}
	}
}

// BenchmarkConfined compares starting a confined script with an unconfined one.
func BenchmarkConfined(b *testing.B) {
	dir := b.TempDir()
	var r Runner
	p := &confine.Profile{Write: []string{dir}, Process: true}
	spec := Spec{Argv: []string{"/bin/true"}, Dir: dir, Env: env()}
	var took [2]time.Duration
	for range b.N {
		for i := range took {
			began := time.Now()
			one := spec
			if i == 1 {
				c, err := r.Confine(confine.Offered(), p)
				if err != nil {
					b.Fatal(err)
				}
				one.Confined = c
			}
			if res := r.Run(context.Background(), one); res.Status != 0 {
				b.Fatalf("%+v", res)
			}
			if one.Confined != nil {
				one.Confined.Release()
			}
			took[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "µs/free")
	b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "µs/confined")
}

// A confined script's group is tied to its lifeline too, although the filter refuses that to the script.
func TestConfinedLifeline(t *testing.T) {
	s := newFixture(t)
	c, err := s.runner.Confine(confine.Offered(), s.profile("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	argv := []string{"sleep", "600"}
	p, err := s.runner.start(&Spec{Env: s.env, Confined: c}, argv)
	if err != nil {
		t.Fatal(err)
	}
	if !p.lifeline.tied() {
		t.Error("it is not tied")
	}
	unix.Kill(-p.pid, unix.SIGKILL)
	p.run(context.Background())
}

// A confined script gets the limit on open files that was there before Go raised it, also as the first script.
func TestConfinedLimit(t *testing.T) {
	if os.Getenv("LIMIT_OF_SCRIPT") == "" {
		again := exec.Command("/bin/sh", "-c", `ulimit -Sn 500; exec "$0" -test.run='^TestConfinedLimit$'`, os.Args[0])
		again.Env = append(os.Environ(), "LIMIT_OF_SCRIPT=500")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s := newFixture(t)
	c, err := s.runner.Confine(confine.Offered(), s.profile("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	argv := []string{"/bin/bash", "-c", "ulimit -Sn"}
	res := s.runner.Run(context.Background(), Spec{Argv: argv, Env: s.env, Confined: c})
	if got := string(res.Stdout); got != os.Getenv("LIMIT_OF_SCRIPT")+"\n" {
		t.Errorf("%q, %+v", got, res)
	}
}
