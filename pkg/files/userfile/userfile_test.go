package userfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/files/atomicfile"
)

const backup = "file.bak"

// A place is a directory with a file to edit.
type place struct {
	t    *testing.T
	root *os.Root
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &place{t, root}
}

func (p *place) path(name string) string { return filepath.Join(p.root.Name(), name) }

func (p *place) put(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Error(err)
	}
	return string(text)
}

// list returns the names in the directory.
func (p *place) list() (names []string) {
	p.t.Helper()
	entries, err := os.ReadDir(p.root.Name())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

var options = Options{Max: 100, Mode: 0o600, Backup: backup, Wait: 5 * time.Second}

// edit replaces the text of the file; "" removes the file. during is called in each try.
func (p *place) edit(after string, during func(try int)) (kept bool, err error) {
	try := 0
	return Edit(p.t.Context(), p.root, "file", options, func(File) ([]byte, error) {
		try++
		if during != nil {
			during(try)
		}
		if after == "" {
			return nil, nil
		}
		return []byte(after), nil
	})
}

// CLI-712: the file keeps its mode, a backup is made, and no other files remain.
func TestEdit(t *testing.T) {
	p := newPlace(t)
	if kept, err := p.edit("one", nil); err != nil || kept {
		t.Fatalf("%v, %v", err, kept)
	}
	mode := func(name string) os.FileMode {
		info, err := os.Stat(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if mode("file") != options.Mode {
		t.Errorf("mode %o", mode("file"))
	}
	if err := os.Chmod(p.path("file"), 0o604); err != nil {
		t.Fatal(err)
	}
	if kept, err := p.edit("two", nil); err != nil || !kept {
		t.Fatalf("%v, %v", err, kept)
	}
	if mode("file") != 0o604 || mode(backup) != 0o604 || p.read("file") != "two" || p.read(backup) != "one" {
		t.Errorf("modes %o and %o, %q, %q", mode("file"), mode(backup), p.read("file"), p.read(backup))
	}
	if _, err := p.edit("three", nil); err != nil || p.read(backup) != "two" {
		t.Errorf("%v, %q", err, p.read(backup))
	}
	if got := p.list(); !slices.Equal(got, []string{"file", backup}) {
		t.Errorf("%q", got)
	}
	if err := os.Chmod(p.path("file"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := p.edit("four", nil); err == nil || !strings.Contains(err.Error(), "chmod u+w") ||
		p.read("file") != "three" {
		t.Error(err)
	}
	if err := os.Chmod(p.path("file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if kept, err := p.edit("", nil); err != nil || !kept || p.read(backup) != "three" {
		t.Errorf("%v, %v", kept, err)
	}
	if got := p.list(); !slices.Equal(got, []string{backup}) {
		t.Errorf("%q", got)
	}
	if kept, err := p.edit("", nil); err != nil || kept {
		t.Errorf("nothing to remove: %v, %v", kept, err)
	}
}

// CLI-712: a file whose attributes cannot be kept is not edited, and nothing changes.
func TestRefused(t *testing.T) {
	for name, prepare := range map[string]func(p *place) error{
		"hard links": func(p *place) error { return os.Link(p.path("file"), p.path("other")) },
		"it is a symbolic link": func(p *place) error {
			return errors.Join(os.Rename(p.path("file"), p.path("real")),
				os.Symlink("real", p.path("file")))
		},
		"is a directory":        func(p *place) error { return os.Mkdir(p.path(backup), 0o700) },
		"larger than 100 bytes": func(p *place) error { return os.WriteFile(p.path("file"), make([]byte, 101), 0o600) },
		"it is not writable;":   func(p *place) error { return os.Chmod(p.path("file"), 0o400) },
	} {
		p := newPlace(t)
		p.put("file", "old")
		if err := prepare(p); err != nil {
			t.Skip(err)
		}
		before, text := p.list(), p.read("file")
		for _, after := range []string{"new", ""} {
			if _, err := p.edit(after, nil); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := p.list(); !slices.Equal(before, after) || p.read("file") != text {
			t.Errorf("%s: %q, before %q", name, after, before)
		}
	}
}

// CLI-712: a change by another program between reading and writing is neither lost nor overwritten.
func TestChangedMeanwhile(t *testing.T) {
	replace := func(p *place, text string) {
		p.put("x", text)
		if err := os.Rename(p.path("x"), p.path("file")); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(p *place){
		"text":          func(p *place) { p.put("file", "theirs") },
		"another file":  func(p *place) { replace(p, "theirs") },
		"the same text": func(p *place) { replace(p, "old") },
		"mode":          func(p *place) { os.Chmod(p.path("file"), 0o640) },
		"gone":          func(p *place) { os.Remove(p.path("file")) },
	} {
		for _, after := range []string{"new", ""} {
			p := newPlace(t)
			p.put("file", "old")
			tries := 0
			_, err := p.edit(after, func(try int) {
				if tries = try; try == 1 {
					change(p)
				}
			})
			if want := 2; err != nil || tries != want {
				t.Errorf("%s, %q: %v, %d tries", name, after, err, tries)
			}
			if after == "new" && p.read("file") != "new" {
				t.Errorf("%s: %q", name, p.read("file"))
			}
			if (name == "text" || name == "another file") && p.read(backup) != "theirs" {
				t.Errorf("%s, %q: %q", name, after, p.read(backup))
			}
		}
	}
	p := newPlace(t)
	tries := 0
	if _, err := p.edit("mine", func(try int) {
		if tries = try; try == 1 {
			p.put("file", "theirs")
		}
	}); err != nil || tries != 2 || p.read(backup) != "theirs" {
		t.Errorf("where nothing was: %v, %d tries", err, tries)
	}

	// If a program writes all the time, the edit fails and keeps that program's text.
	if _, err := p.edit("never", func(try int) {
		tries = try
		p.put("file", strings.Repeat("x", try))
	}); err != errKeepsChanging || tries != maxTries || p.read("file") != strings.Repeat("x", maxTries) {
		t.Errorf("%v, %d tries, %q", err, tries, p.read("file"))
	}
	if got := p.list(); !slices.Equal(got, []string{"file", backup}) {
		t.Errorf("%q", got)
	}
}

// begun starts an edit and stops it after its last check of the file.
func (p *place) begun(text string) (e *edit, old *version, fresh string) {
	p.t.Helper()
	list, err := p.root.Open(".")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { list.Close() })
	e = &edit{p.root, list, "file", options}
	if old, err = e.read("file"); err == nil {
		fresh, err = e.write("file", []byte(text), old)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return e, old, fresh
}

// CLI-712: a change of any type by another program between the last check and the replacement is restored.
func TestExchange(t *testing.T) {
	for name, change := range map[string]func(p *place) error{
		"nothing": func(p *place) error { return nil },
		"text":    func(p *place) error { return os.WriteFile(p.path("file"), []byte("theirs"), 0o600) },
		"file": func(p *place) error {
			return errors.Join(os.Remove(p.path("file")), os.WriteFile(p.path("file"),
				[]byte("theirs"), 0o600))
		},
		"mode":      func(p *place) error { return os.Chmod(p.path("file"), 0o640) },
		"directory": func(p *place) error { return errors.Join(os.Remove(p.path("file")), os.Mkdir(p.path("file"), 0o700)) },
		"link": func(p *place) error {
			return errors.Join(os.Remove(p.path("file")), os.Symlink("none",
				p.path("file")))
		},
		"gone": func(p *place) error { return os.Remove(p.path("file")) },
	} {
		p := newPlace(t)
		p.put("file", "old")
		e, old, fresh := p.begun("new")
		if err := change(p); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(p.path("file"))
		err := e.exchange(fresh, old)
		after, _ := os.Lstat(p.path("file"))
		switch {
		case name == "nothing":
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			}
			if err != nil || p.read("file") != "new" || p.read(fresh) != "old" {
				t.Errorf("%s: %v", name, err)
			}
		case err != errChanged || (before == nil) != (after == nil) || before != nil && !os.SameFile(before, after):
			t.Errorf("%s: %v, %v, before %v", name, err, after, before)
		}
	}
}

// CLI-712: if a program writes all the time, no version of its file is lost or reappears.
func TestStress(t *testing.T) {
	for name, write := range map[string]func(p *place, text string) error{
		"in place": func(p *place, text string) error { return os.WriteFile(p.path("file"), []byte(text), 0o600) },
		"by renaming": func(p *place, text string) error {
			return errors.Join(os.WriteFile(p.path("theirs"), []byte(text), 0o600), os.Rename(p.path("theirs"), p.path("file")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.put("file", "0")
			if name == "in place" && !canExchange(p) {
				t.Skip("two names cannot be exchanged here")
			}
			const versions = 400
			var client sync.WaitGroup
			stop := make(chan struct{})
			last := ""
			client.Go(func() {
				for i := range versions {
					last = strconv.Itoa(i + 1)
					if err := write(p, last); err != nil {
						t.Error(err)
					}
				}
				close(stop)
			})
			edits := 0
			for done := false; !done; {
				select {
				case <-stop:
					done = true
				default:
				}
				_, err := Edit(t.Context(), p.root, "file", options, func(f File) ([]byte, error) {
					if len(f.Text) == 0 { // the program is writing
						return f.Text, nil
					}
					return fmt.Appendf(nil, "%s+", strings.TrimRight(string(f.Text), "+")), nil
				})
				if err == nil {
					edits++
				} else if err != errKeepsChanging {
					t.Errorf("%v; there is %q", err, p.list())
				}
			}
			client.Wait()
			if got := strings.TrimRight(p.read("file"), "+"); got != last {
				t.Errorf("after %d edits there is %q, and the last was %q", edits, got, last)
			}
		})
	}
}

func canExchange(p *place) bool {
	e, old, fresh := p.begun("1")
	err := e.exchange(fresh, old)
	os.Remove(p.path(fresh))
	return err == nil
}

// CLI-712: if two names cannot be exchanged, the file and its backup are copied. A change before the last check is
// detected.
func TestOverwrite(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	if err := os.Chmod(p.path("file"), 0o640); err != nil {
		t.Fatal(err)
	}
	e, old, fresh := p.begun("new")
	if err := e.overwrite(fresh, old); err != nil || p.read("file") != "new" || p.read(backup) != "old" {
		t.Errorf("%v, %q, %q", err, p.read("file"), p.read(backup))
	}
	for _, name := range []string{"file", backup} {
		if info, err := os.Stat(p.path(name)); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	e, old, fresh = p.begun("newer")
	p.put("file", "theirs")
	if err := e.overwrite(fresh, old); err != errChanged || p.read("file") != "theirs" {
		t.Errorf("%v, %q", err, p.read("file"))
	}
}

// CLI-712: an edit removes copies of its file that killed edits of the same user left.
func TestSwept(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	_, _, fresh := p.begun("secret") // the edit is killed here
	stay := []string{".file.new-x", ".file.new-0123456789", ".other.new-0123456789ab", "file.new-0123456789ab"}
	for _, name := range stay {
		p.put(name, "")
	}
	p.put("."+backup+".new-0123456789ab", "secret")
	if err := os.Mkdir(p.path(".file.new-ba9876543210"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := options
	o.DryRun = true
	if _, err := Edit(t.Context(), p.root, "file", o, func(File) ([]byte, error) { return nil, nil }); err != nil ||
		p.read(fresh) != "secret" {
		t.Errorf("without writing: %v", err)
	}
	if _, err := p.edit("old", nil); err != nil {
		t.Fatal(err)
	}
	want := append(stay, ".file.new-ba9876543210", "file")
	slices.Sort(want)
	if got := p.list(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// CLI-712: an edit waits for another one, up to a time limit or a signal.
func TestLocked(t *testing.T) {
	p := newPlace(t)
	p.put("file", "old")
	holder, err := p.root.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := atomicfile.Lock(t.Context(), holder, "it", 0); err != nil {
		t.Skip(err) // this system cannot lock directories
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	signal := errors.New("a signal")
	cancel(signal)
	remove := func(File) ([]byte, error) { return nil, nil }
	if _, err := Edit(ctx, p.root, "file", options, remove); err != signal {
		t.Error(err)
	}
	o := options
	o.Wait = 10 * time.Millisecond
	_, err = Edit(t.Context(), p.root, "file", o, remove)
	var locked *atomicfile.LockedError
	if !errors.As(err, &locked) || p.read("file") != "old" {
		t.Error(err)
	}
	holder.Close()
	if _, err := Edit(t.Context(), p.root, "file", o, remove); err != nil {
		t.Error(err)
	}
}
