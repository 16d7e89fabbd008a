package handoff

import (
	"os"
	"testing"
	"time"
)

// M-55: changes of a directory are reported, wherever a script has moved it, until the watch ends.
func TestWatcher(t *testing.T) {
	p, path := newPool(t)
	d, other := take(t, p), take(t, p)
	var w Watcher
	changed := make(chan string, 100)
	report := func(name string) func() {
		return func() { changed <- name }
	}
	stop, stopOther := w.Watch(d, report("d")), w.Watch(other, report("other"))
	if stop == nil || stopOther == nil {
		t.Fatal("not watched")
	}
	await := func(want string) {
		t.Helper()
		select {
		case got := <-changed:
			if got != want {
				t.Errorf("%s has changed, not %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no change of %s", want)
		}
	}
	check(t, os.Rename(d.Path(""), path+"/moved"))
	for _, file := range []string{"elicit.request", "input/batch.request", progressName} {
		check(t, os.WriteFile(path+"/moved/"+file, []byte("x"), 0o600))
		await("d")
		for len(changed) > 0 { // a write can be several changes
			<-changed
		}
	}
	stop()
	check(t, os.WriteFile(path+"/moved/again", nil, 0o600))
	check(t, os.WriteFile(other.Path("x"), nil, 0o600))
	for got := range changed {
		if got == "other" {
			break
		}
	}
	stopOther()
	if w.file != nil || len(w.changed) != 0 {
		t.Error("an inotify instance is left")
	}
}
