package handoff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// newPool returns a pool below a new directory, with the directory's path.
func newPool(t testing.TB) (*Pool, string) {
	t.Helper()
	path := t.TempDir()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return new(Cache).Pool(path, func() (*os.Root, error) { return root, nil }), path
}

func take(t testing.TB, p *Pool) *Dir {
	t.Helper()
	d, err := p.Take()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// left lists a directory after all removals have finished.
func left(t *testing.T, p *Pool, path string) []string {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); ; runtime.Gosched() {
		p.cache.mu.Lock()
		done := !p.cache.removing
		p.cache.mu.Unlock()
		if done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("removing takes for ever")
		}
	}
	list, err := filepath.Glob(filepath.Join(path, "*"))
	check(t, err)
	return list
}

// isNew returns the difference between a directory and a new one, or "".
func isNew(d *Dir) string {
	if names, err := os.ReadDir(d.path); err != nil || len(names) != 6 {
		return fmt.Sprint(names, err)
	}
	if inputs, _ := os.ReadDir(d.InputPath()); len(inputs) != 0 {
		return "input/" + inputs[0].Name()
	}
	if files, _ := os.ReadDir(d.TempPath()); len(files) != 0 {
		return "tmp/" + files[0].Name()
	}
	if info, err := os.Lstat(d.TempPath()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		return "tmp"
	}
	for name, file := range d.files() {
		info, err := os.Lstat(d.Path(name))
		ours, gone := (*file).Stat()
		if err != nil || gone != nil || !os.SameFile(info, ours) || info.Size() != 0 || info.Mode() != 0o600 {
			return name
		}
	}
	return ""
}

// T-79: a script's changes to a directory are undone, or the directory is not used again.
func TestReset(t *testing.T) {
	for _, tc := range []struct {
		name   string
		do     func(d *Dir) error
		reused bool
	}{
		{"nothing", func(*Dir) error { return nil }, true},
		{"wrote", func(d *Dir) error { return os.WriteFile(d.ErrorsPath(), []byte("x"), 0o600) }, true},
		{"added", func(d *Dir) error {
			return errors.Join(os.WriteFile(d.Path("cancelled"), nil, 0o600), os.Mkdir(d.Path("empty"), 0o700),
				os.WriteFile(d.Input.Path("x"), nil, 0o600))
		}, true},
		{"linked out", func(d *Dir) error { return os.Symlink("/etc/passwd", d.Path("link")) }, true},
		{"filled a directory", func(d *Dir) error { return os.MkdirAll(d.Path("a/b"), 0o700) }, false},
		{"many files", func(d *Dir) (err error) {
			for i := range 100 {
				err = errors.Join(err, os.WriteFile(d.Path(strings.Repeat("x", i+1)), nil, 0o600))
			}
			return err
		}, false},
		{"replaced a file", func(d *Dir) error {
			return errors.Join(os.WriteFile(d.Path("x"), nil, 0o600), os.Rename(d.Path("x"), d.LogsPath()))
		}, false},
		{"removed a file", func(d *Dir) error { return os.Remove(d.ProgressPath()) }, false},
		{"changed a mode", func(d *Dir) error { return os.Chmod(d.ProgressPath(), 0o666) }, false},
		{"replaced the directory for questions", func(d *Dir) error {
			return errors.Join(os.Rename(d.InputPath(), d.Path("old")), os.Mkdir(d.InputPath(), 0o700),
				os.Remove(d.Path("old")))
		}, false},
		{"left temporary files", func(d *Dir) error {
			return errors.Join(os.WriteFile(filepath.Join(d.TempPath(), "x"), nil, 0o600),
				os.Mkdir(filepath.Join(d.TempPath(), "empty"), 0o700))
		}, true},
		{"left a folder with temporary files", func(d *Dir) error {
			return os.MkdirAll(filepath.Join(d.TempPath(), "a", "b"), 0o700)
		}, false},
		{"left many temporary files", func(d *Dir) (err error) {
			for i := range strays {
				err = errors.Join(err, os.WriteFile(filepath.Join(d.TempPath(), strconv.Itoa(i)), nil, 0o600))
			}
			return err
		}, false},
		{"changed the mode of the temporary directory", func(d *Dir) error { return os.Chmod(d.TempPath(), 0o755) }, false},
		{"replaced the temporary directory", func(d *Dir) error {
			return errors.Join(os.Rename(d.TempPath(), d.Path("old")), os.Mkdir(d.TempPath(), 0o700),
				os.Remove(d.Path("old")))
		}, false},
		{"replaced the temporary directory by a link", func(d *Dir) error {
			return errors.Join(os.Remove(d.TempPath()), os.Symlink(inputName, d.TempPath()))
		}, false},
		{"moved itself away", func(d *Dir) error { return os.Rename(d.path, d.path+".moved") }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, _ := newPool(t)
			d := take(t, p)
			check(t, tc.do(d))
			p.Give(d, true)
			again := take(t, p)
			if reused := again == d; reused != (tc.reused && runtime.GOOS == "linux") {
				t.Errorf("reused %t", reused)
			}
			if what := isNew(again); what != "" {
				t.Errorf("not as new: %s", what)
			}
			p.Give(again, true)
		})
	}
}

// T-79: an idle directory is not used again after a cleaner of temporary files has removed
// files from it.
func TestCleanedDirectory(t *testing.T) {
	p, path := newPool(t)
	for _, name := range append(slices.Clone(ownNames), "") {
		d := take(t, p)
		p.Give(d, true)
		if len(p.cache.idle) == 0 {
			t.Skip("no directory is used twice here")
		}
		check(t, os.RemoveAll(filepath.Join(d.path, name)))
		d.idle = time.Now().Add(-time.Hour)
		next := take(t, p)
		if what := isNew(next); what != "" {
			t.Errorf("without %q: not as new: %s", name, what)
		}
		p.Give(next, false)
	}
	if rest := left(t, p, path); len(rest) != 0 {
		t.Errorf("left: %q", rest)
	}
}

// T-79: files are not used again while any process has one of them open, regardless of the
// script.
func TestLateWriter(t *testing.T) {
	p, path := newPool(t)
	for _, own := range []string{progressName, logsName, errorsName, resourcesName} {
		d := take(t, p)
		late, err := os.OpenFile(d.Path(own), os.O_WRONLY|os.O_APPEND, 0)
		check(t, err)
		p.Give(d, true) // the pool cannot know about the writer, which left its process group
		next := take(t, p)
		if next == d {
			t.Errorf("%s: used again while it was open", own)
		}
		late.WriteString("late\n")
		if what := isNew(next); what != "" {
			t.Errorf("%s: the next call sees %s", own, what)
		}
		late.Close()
		p.Give(next, false)
	}
	if rest := left(t, p, path); len(rest) != 0 {
		t.Errorf("left: %q", rest)
	}
}

// T-110: a script can put anything under the names that the server uses. The server does not
// block, does not follow it out of the directory, and does not read without limit.
func TestHostileNames(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	check(t, os.WriteFile(outside, []byte("mine"), 0o600))
	const limit = 1 << 10
	for name, plant := range plants(outside) {
		t.Run(name, func(t *testing.T) {
			p, _ := newPool(t)
			d := take(t, p)
			defer p.Give(d, false)
			put := d.Path("answer")
			check(t, plant(put))
			if err := d.Put("answer", []byte("yes")); err == nil {
				if content, err := os.ReadFile(put); err != nil || string(content) != "yes" {
					t.Errorf("answer: %q, %v", content, err)
				}
			} else if name != "directory" {
				t.Errorf("answer: %v", err)
			}
			check(t, plant(d.Path("request")))
			if content, found := d.Take("request", limit); !found || content != nil {
				t.Errorf("request: %q, %t", content, found)
			}
			if _, found := d.Take("request", limit); found {
				t.Error("request: found twice")
			}
			check(t, plant(d.Path("mark")))
			if err := d.Create("mark", []byte("1")); !errors.Is(err, fs.ErrExist) {
				t.Errorf("mark: %v", err)
			}
			check(t, os.Remove(d.ErrorsPath()))
			check(t, plant(d.ErrorsPath()))
			if content, err := d.ReadErrors(limit); len(content) != 0 || err != nil && !errors.Is(err, ErrTooLarge) {
				t.Errorf("errors: %q, %v", content, err)
			}
			if content, err := os.ReadFile(outside); err != nil || string(content) != "mine" {
				t.Errorf("the file outside: %q, %v", content, err)
			}
		})
	}
}

// T-123, T-110: an answer in reserved space appears completely, for any length. It is not
// written to a file that a script puts in the place of the reserved one.
func TestReserved(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	reserve := func() *Reserved {
		r, err := d.Reserve(100)
		check(t, err)
		return r
	}
	for _, want := range []string{"", "short", strings.Repeat("long", 100)} {
		check(t, reserve().Put("answer", []byte(want)))
		if got, found := d.Take("answer", 1000); string(got) != want || found != (want != "") {
			t.Errorf("%q, %t, not %q", got, found, want)
		}
	}
	reserve().Drop()
	p.Give(d, true)
	outside := filepath.Join(t.TempDir(), "victim")
	check(t, os.WriteFile(outside, []byte("mine"), 0o600))
	for name, plant := range plants(outside) {
		d := take(t, p)
		r, err := d.Reserve(100)
		check(t, errors.Join(err, os.Remove(d.Path(r.aside)), plant(d.Path(r.aside))))
		if r.Put("answer", []byte("yes")) == nil { // a file of the script with the same inode number
			if got, _ := d.Take("answer", 100); string(got) != "yes" {
				t.Errorf("%s: %q", name, got)
			}
		}
		if content, err := os.ReadFile(outside); err != nil || string(content) != "mine" {
			t.Errorf("%s: the file outside: %q, %v", name, content, err)
		}
		p.Give(d, false)
	}
}

// A question that a script is still writing stays until it is complete (T-121).
func TestEmptyQuestion(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	path := d.Path("request")
	check(t, os.WriteFile(path, nil, 0o600))
	if content, found := d.Take("request", 100); found {
		t.Errorf("taken: %q", content)
	}
	check(t, os.WriteFile(path, []byte("{}"), 0o600))
	if content, found := d.Take("request", 100); !found || string(content) != "{}" {
		t.Errorf("%q, %t", content, found)
	}
}

// A process that survives its call, and knows the path of the files, cannot create one while they are removed (T-79).
func TestPathOfSurvivor(t *testing.T) {
	p, _ := newPool(t)
	d := take(t, p)
	path := d.path
	p.Give(d, false)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) && runtime.GOOS != "windows" {
		t.Errorf("%s exists after the call: %v", path, err)
	}
}

// If a script replaces its directory by a link, the server writes and removes nothing in the
// target.
func TestExchangedDirectory(t *testing.T) {
	elsewhere := t.TempDir()
	check(t, os.WriteFile(filepath.Join(elsewhere, "request"), []byte("theirs"), 0o600))
	check(t, os.Mkdir(filepath.Join(elsewhere, "input"), 0o700))
	p, path := newPool(t)
	d := take(t, p)
	check(t, os.Rename(d.path, d.path+".moved"))
	check(t, os.Symlink(elsewhere, d.path))
	check(t, d.Create("cancelled", nil))
	check(t, d.Put("answer", nil))
	check(t, d.Input.Put("answer", nil))
	if _, found := d.Take("request", 100); found {
		t.Error("a file of another directory was taken")
	}
	p.Give(d, true)
	if next := take(t, p); next == d || isNew(next) != "" {
		t.Error("the link was handed out")
	}
	left(t, p, path)
	list, err := filepath.Glob(filepath.Join(elsewhere, "*"))
	check(t, err)
	if len(list) != 2 {
		t.Errorf("elsewhere: %q", list)
	}
}

// New directories can be taken after the private directory was lost.
func TestLostPrivateDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	var root *os.Root
	open := func() (*os.Root, error) {
		if _, err := os.Stat(path); err == nil {
			return root, nil
		}
		err := os.Mkdir(path, 0o700)
		if err == nil {
			root, err = os.OpenRoot(path)
		}
		return root, err
	}
	p := (&Cache{most: 1}).Pool(path, open)
	p.Give(take(t, p), true)
	check(t, os.RemoveAll(path))
	d := take(t, p)
	if what := isNew(d); what != "" {
		t.Errorf("not as new: %s", what)
	}
	p.Give(d, true)
	check(t, os.RemoveAll(path))
	check(t, os.WriteFile(path, nil, 0o600))
	if _, err := p.Take(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file in its place: %v", err)
	}
}

// A pool keeps as many directories as were in use at the same time since the last sweep, and
// at least one.
func TestSweep(t *testing.T) {
	p, path := newPool(t)
	var all []*Dir
	for range 8 {
		all = append(all, take(t, p))
	}
	for _, d := range all {
		p.Give(d, true)
	}
	p.cache.sweep()
	p.cache.sweep()
	want := 1
	if runtime.GOOS != "linux" {
		want = 0
	}
	if rest := left(t, p, path); len(rest) != want {
		t.Errorf("%d left: %q", len(rest), rest)
	}
}

// Unused directories use few descriptors (T-53).
func TestIdleWithin(t *testing.T) {
	for limit, want := range map[int]int{0: 1000, 44: 1, 64: 1, 256: 4, 1024: 17, 1 << 20: 1000} {
		if got := idleWithin(limit); got != want {
			t.Errorf("%d descriptors: %d, not %d", limit, got, want)
		}
	}
	root, err := os.OpenRoot(t.TempDir())
	check(t, err)
	defer root.Close()
	const keep = 2
	p := (&Cache{most: keep}).Pool(root.Name(), func() (*os.Root, error) { return root, nil })
	var all []*Dir
	for range 8 {
		all = append(all, take(t, p))
	}
	for _, d := range all {
		p.Give(d, true)
	}
	closed := 0
	for _, d := range all {
		if _, err := d.Errors.Stat(); err != nil {
			closed++
		}
	}
	want := len(all) - keep
	if runtime.GOOS != "linux" {
		want = len(all) // directories are not reused
	}
	if closed != want {
		t.Errorf("%d of %d are closed, not %d", closed, len(all), want)
	}
}

// T-53: directories in use count. A pool that needs directories gets those of another pool's idle ones closed.
func TestSharedLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("directories are not reused")
	}
	const limit = 4
	cache := &Cache{most: limit}
	var pools [2]*Pool
	for i := range pools {
		root, err := os.OpenRoot(t.TempDir())
		check(t, err)
		t.Cleanup(func() { root.Close() })
		pools[i] = cache.Pool(root.Name(), func() (*os.Root, error) { return root, nil })
	}
	var used [2][limit]*Dir
	for i, p := range pools {
		for j := range used[i] {
			used[i][j] = take(t, p)
			if total := len(cache.idle) + cache.out; total > limit {
				t.Errorf("pool %d: %d directories are open", i, total)
			}
		}
		for _, d := range used[i] {
			p.Give(d, true)
		}
		if len(cache.idle) != limit || cache.idle[0].above != p.path {
			t.Errorf("pool %d: %d idle", i, len(cache.idle))
		}
	}
	for _, d := range used[0] {
		if _, err := d.Errors.Stat(); err == nil {
			t.Error("an idle directory of the first pool is open")
		}
	}
	pools[0].Give(take(t, pools[0]), true)
	cache.sweep()
	cache.sweep()
	if len(cache.idle) != len(pools) {
		t.Errorf("%d idle directories remain, not one of each pool", len(cache.idle))
	}
}

// A stream that is read in arbitrary pieces has the same lines.
func TestFollow(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	defer file.Close()
	f := Follow(file)
	var got []string
	line := func(l []byte) { got = append(got, string(l)) }
	text := "one\n\ntwo\n" + strings.Repeat("x", maxLine+5) + "\nthree\nend"
	for i := 0; i < len(text); {
		n := min(len(text)-i, 1+i%70000)
		file.WriteString(text[i : i+n])
		i += n
		f.Poll(line)
	}
	if !f.Finish(line) {
		t.Error("not read to the end")
	}
	if strings.Join(got, "|") != "one|two|three|end" {
		t.Errorf("%d lines: %.60q", len(got), got)
	}
}

// T-110: Poll and Finish read a limited number of bytes, for any size of the file.
func TestFollowHugeFile(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	defer file.Close()
	f := Follow(file)
	line := func(l []byte) { t.Errorf("a line of %d bytes", len(l)) }
	check(t, file.Truncate(4<<40))
	if !f.Poll(line) || f.at > maxPoll {
		t.Errorf("a poll read %d bytes", f.at)
	}
	if f.Finish(line) || f.at > maxPoll+maxFinish {
		t.Errorf("read %d bytes in all", f.at)
	}
	check(t, file.Truncate(0)) // continues normally afterwards
	file.WriteString("again\n")
	var got string
	f.Poll(func(l []byte) { got += string(l) })
	if got != "again" {
		t.Errorf("after truncation: %q", got)
	}
}

func BenchmarkTakeAndGive(b *testing.B) {
	p, _ := newPool(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Give(take(b, p), true)
	}
}
