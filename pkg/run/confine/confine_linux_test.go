package confine

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// onThread runs a function on a separate thread, which ends with it.
func onThread(do func() error) error {
	done := make(chan error)
	OnThread(func() { done <- do() })
	return <-done
}

// If any step fails, Enter fails (CF-4).
func TestEnterFails(t *testing.T) {
	k := Offered()
	if k.ABI == 0 || !k.Filters {
		t.Skip("the kernel cannot confine")
	}
	failure := unix.ENOMEM
	whole := system
	t.Cleanup(func() { system = whole })
	p := &Profile{Read: []string{t.TempDir()}, Connect: []uint16{1}}
	noFilter := func() { // without a listener there is still the filter
		system.listen = func([]unix.SockFilter) (int, error) { return -1, failure }
		system.setFilter = func([]unix.SockFilter) error { return failure }
	}
	steps := map[string]func(){
		"dumpable":      func() { system.dumpable = func() error { return failure } },
		"hasCapability": func() { system.hasCapability = func(int) bool { return true } }, // then drop fails
		"drop":          func() { system.drop = func(int) error { return failure } },
		"disinherit":    func() { system.disinherit = func() error { return failure } },
		"noNewPrivs":    func() { system.noNewPrivs = func() error { return failure } },
		"createRuleset": func() {
			system.createRuleset = func(*unix.LandlockRulesetAttr) (int, error) { return -1, failure }
		},
		"open":    func() { system.open = func(string, bool) (int, error) { return -1, failure } },
		"stat":    func() { system.stat = func(int, *unix.Stat_t) error { return failure } },
		"addRule": func() { system.addRule = func(int, int, uint64) error { return failure } },
		"addPort": func() {
			system.addPort = func(int, uint16) error { return failure }
			if k.ABI < abiTCP { // older kernels have no ports, and the filter refuses them
				noFilter()
			}
		},
		"restrictSelf": func() { system.restrictSelf = func(int) error { return failure } },
		"setFilter":    noFilter,
		"listen":       noFilter,
	}
	if n := reflect.TypeFor[calls]().NumField(); n != len(steps) {
		t.Errorf("%d calls, %d of them fail here", n, len(steps))
	}
	for name, breaks := range steps {
		system = whole
		breaks()
		if name == "hasCapability" || name == "drop" {
			system.hasCapability, system.drop = func(int) bool { return true }, func(int) error { return failure }
		}
		if err := onThread(func() error { return k.Enter(p) }); !errors.Is(err, failure) {
			t.Errorf("%s: %v", name, err)
		}
	}
	system = whole
	if err := onThread(func() error { return k.Enter(p) }); err != nil {
		t.Error(err)
	}
	if err := (Kernel{}).Enter(p); err == nil {
		t.Error("a kernel that offers nothing confines")
	}
}

// A key changes with every permission, and when a path refers to another file.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	make := func() {
		if err := os.Mkdir(dir+"/a", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	make()
	profiles := []Profile{
		{}, {AllFiles: true}, {Modes: true}, {Network: true}, {Connect: []uint16{1}}, {Connect: []uint16{1, 2}},
		{Process: true}, {Read: []string{dir + "/a"}},
		{Write: []string{dir + "/a"}}, {Programs: []string{dir + "/a"}}, {Read: []string{dir, "/a"}},
	}
	var keys []string
	for _, p := range profiles {
		key := p.Key()
		if slices.Contains(keys, key) {
			t.Errorf("%+v has the key of another", p)
		}
		keys = append(keys, key)
	}
	if err := os.Rename(dir+"/a", dir+"/b"); err != nil {
		t.Fatal(err)
	}
	make()
	if profiles[7].Key() == keys[7] {
		t.Error("another directory, the same key")
	}
}

// A link that is created after a path was resolved has no effect (CF-13, CF-61).
func TestLinksAreNotFollowed(t *testing.T) {
	if Offered().ABI == 0 {
		t.Skip("the kernel has no Landlock")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/secret", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, dir+"/../link"+t.Name()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir + "/../link" + t.Name()) })
	link := dir + "/../link" + t.Name()
	open := func(p *Profile) error {
		return onThread(func() error {
			if err := Offered().Enter(p); err != nil {
				t.Error(err)
			}
			f, err := os.Open(dir + "/secret")
			if err == nil {
				f.Close()
			}
			return err
		})
	}
	for name, p := range map[string]*Profile{
		"read": {Read: []string{link}}, "write": {Write: []string{link}}, "programs": {Programs: []string{link}},
	} {
		if err := open(p); !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(&Profile{Programs: []string{real}}); err != nil {
		t.Error(err)
	}
}
