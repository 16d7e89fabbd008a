package script

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/first"
)

// zombies returns the number of ended children that nobody has collected.
func zombies(t *testing.T) (n int) {
	t.Helper()
	list, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range list {
		if s, ok := statusOf(pid); ok && s.parent == "1" && !s.alive {
			n++
		}
	}
	return n
}

// P-909: process 1 collects the daemons that scripts leave running, whenever they end.
func TestOrphansAreCollected(t *testing.T) {
	if !first.Process(t) {
		return
	}
	r := new(Runner)
	ctx, stop := context.WithCancel(t.Context())
	returned := make(chan bool)
	go func() { r.CollectOrphans(ctx); close(returned) }()
	end := t.TempDir() + "/end"
	if err := unix.Mkfifo(end, 0o600); err != nil {
		t.Fatal(err)
	}
	// The one end of the FIFO stays open, so that the daemons end together.
	hold, err := os.OpenFile(end, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		code := fmt.Sprintf(`setsid sleep 0 & setsid cat <"$0" >/dev/null 2>&1 & exit %d`, i)
		res := r.Run(context.Background(), Spec{Argv: []string{"sh", "-c", code, end}, Env: env()})
		if res.Status != i || res.Cause != nil {
			t.Fatalf("%+v", res)
		}
	}
	settle(t, func() bool { return zombies(t) == 0 })
	children := func() (n int) {
		list, err := processes()
		if err != nil {
			t.Fatal(err)
		}
		return len(list) - 1
	}
	settle(t, func() bool { return children() == 10 })
	hold.Close()
	settle(t, func() bool { return children() == 0 })
	stop()
	<-returned
}

// P-909: process 1 never takes the exit status of a script, whenever it collects.
func TestOrphansAreNotScripts(t *testing.T) {
	if !first.Process(t) {
		return
	}
	r := new(Runner)
	stop := make(chan bool)
	var collectors, scripts sync.WaitGroup
	for range 2 {
		collectors.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					r.collectOrphans()
				}
			}
		})
	}
	for worker := range 8 {
		scripts.Go(func() {
			for i := range 25 {
				want := (worker*25 + i) % 120
				res := r.Run(context.Background(), Spec{
					Argv: []string{"sh", "-c", "(:) & (sleep 0 &); exit " + strconv.Itoa(want)}, Env: env(),
				})
				if res.Status != want || res.Cause != nil {
					t.Errorf("%+v, want status %d", res, want)
				}
				res = r.Run(context.Background(), Spec{Argv: []string{"/nonexistent"}, Env: env()})
				if res.Status != statusNotFound {
					t.Errorf("%+v, want status %d", res, statusNotFound)
				}
			}
		})
	}
	scripts.Wait()
	close(stop)
	collectors.Wait()
}

// Another process collects nothing.
func TestNoOrphansElsewhere(t *testing.T) {
	if adopts() {
		t.Skip("left out: this process adopts orphans")
	}
	new(Runner).CollectOrphans(t.Context())
}

// WRAP-12: KillLeft ends what scripts have left running, in their group, in other sessions, and the children of these.
// Running scripts go on.
func TestKillLeft(t *testing.T) {
	if !first.Process(t) {
		return
	}
	AdoptOrphans()
	r := new(Runner)
	dir := t.TempDir()
	for _, name := range []string{"begun", "end"} {
		if err := unix.Mkfifo(dir+"/"+name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	result := make(chan Result)
	go func() {
		result <- r.Run(context.Background(),
			Spec{Argv: []string{"sh", "-c", `echo >"$0/begun"; read -r line <"$0/end"; exit 7`, dir}, Env: env()})
	}()
	if _, err := os.ReadFile(dir + "/begun"); err != nil {
		t.Fatal(err)
	}
	r.Run(context.Background(), Spec{Argv: []string{"sh", "-c",
		`sleep 1000 >/dev/null 2>&1 & setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 & exit 0`}, Env: env()})
	r.KillLeft()
	settle(t, func() bool { // a signal takes effect later than the call that sends it
		list, err := processes()
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(list, func(pid string) bool {
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			s, ok := statusOf(pid)
			return ok && s.alive && string(name) == "sleep\n"
		})
	})
	if err := os.WriteFile(dir+"/end", []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if res := <-result; res.Status != 7 || res.Cause != nil {
		t.Errorf("%+v", res)
	}
}
