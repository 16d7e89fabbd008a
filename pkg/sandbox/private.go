package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/handoff"
)

// A privateDir is the directory of one confined tool or other script: its hand-off directories
// and its temporary files. A domain is made for a tool, not for a call, so the calls of one tool
// share it (CF-11).
type privateDir struct {
	dir   string // as scripts know it
	real  string // without links, once it is made
	files *handoff.Pool
	users int // the lock of privateDirs is held for these
	used  int // when it was taken last, as a number that grows
	open  func() (*os.Root, error)
	made  atomic.Pointer[madeProfile] // for the script, nil at first

	mu     sync.Mutex
	parent *os.Root // what root was made in
	root   *os.Root

	self, temp fs.FileInfo // of the directory, and of the one for temporary files in it
}

const tempName = "tmp"

// mostPrivate is how many are kept for scripts that do not run (CF-11).
func mostPrivate() int { return min(16, handoff.MostIdle()) }

// privateDirs are those of the scripts that ran lately.
type privateDirs struct {
	mu   sync.Mutex
	of   map[string]*privateDir // by [Subject.key]
	last int                    // the last number given
}

// take returns the directory of a tool or another script, which [privateDirs.give] takes back.
func (all *privateDirs) take(state *project.State, key string) (*privateDir, error) {
	all.mu.Lock()
	all.last++
	b := all.of[key]
	if b == nil {
		name := "private." + strconv.Itoa(all.last)
		b = &privateDir{dir: filepath.Join(state.Dir, name)}
		b.open = func() (*os.Root, error) { return b.make(state, name) }
		b.files = handoff.NewPool(b.dir, max(1, handoff.MostIdle()/mostPrivate()), b.open)
		if all.of == nil {
			all.of = map[string]*privateDir{}
		}
		all.of[key] = b
	}
	b.users++
	b.used = all.last
	all.mu.Unlock()
	if _, err := b.open(); err != nil { // before a domain is made, which knows files, not names
		all.give(b)
		return nil, err
	}
	return b, nil
}

// make makes the directory, unless it is there. Programs that clean directories of temporary files, or
// the script itself, may remove it or the one in it while the server runs.
func (b *privateDir) make(state *project.State, name string) (*os.Root, error) {
	parent, err := state.Root()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parent == parent && isAt(filepath.Join(b.dir, tempName), b.temp) {
		return b.root, nil
	}
	if b.parent != parent || !isAt(b.dir, b.self) {
		if err := b.create(parent, name); err != nil {
			return nil, err
		}
	}
	if err := b.root.Mkdir(tempName, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	b.temp, err = b.root.Lstat(tempName)
	return b.root, err
}

// create makes and opens the directory. The lock is held.
func (b *privateDir) create(parent *os.Root, name string) error {
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return err
	}
	self, err := root.Stat(".")
	if err == nil {
		b.real, err = filepath.EvalSymlinks(b.dir)
	}
	if err != nil {
		root.Close()
		return err
	}
	b.parent, b.root, b.self = parent, root, self
	b.made.Store(nil) // it knows files, not names
	return nil
}

// isAt reports whether a file is still what stands at a path.
func isAt(path string, file fs.FileInfo) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(there, file)
}

// give takes a directory back. Of those that nobody uses, the ones used last stay.
func (all *privateDirs) give(b *privateDir) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if b.users--; b.users > 0 {
		return
	}
	var oldest string
	idle := 0
	for key, one := range all.of {
		if one.users == 0 {
			if idle++; oldest == "" || one.used < all.of[oldest].used {
				oldest = key
			}
		}
	}
	if idle > mostPrivate() {
		go all.of[oldest].remove()
		delete(all.of, oldest)
	}
}

func (b *privateDir) remove() {
	b.files.Drop()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root != nil {
		b.root.Close()
		b.parent.RemoveAll(filepath.Base(b.dir))
	}
}
