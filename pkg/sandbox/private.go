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

// A privateDir is the directory for the hand-off directories and the temporary files of one confined tool or other
// script. All calls of a tool share one Landlock domain, and so also the directory.
type privateDir struct {
	dir   string // the path for scripts
	real  string // the path without links, after make
	files *handoff.Pool
	users int // the number of users; guarded by privateDirs.mu
	used  int // the number of the last take; guarded by privateDirs.mu
	open  func() (*os.Root, error)
	made  atomic.Pointer[madeProfile] // the cached profile of the script, or nil

	mu     sync.Mutex
	parent *os.Root // the directory that contains root
	root   *os.Root

	self, temp fs.FileInfo // of the directory and its subdirectory for temporary files
}

const tempName = "tmp"

// mostPrivate returns the maximum number of directories of scripts that do not run.
func mostPrivate() int { return min(16, handoff.MostIdle()) }

// privateDirs contains the directories of recent scripts.
type privateDirs struct {
	mu   sync.Mutex
	of   map[string]*privateDir // by [Subject.key]
	last int                    // the number of the last take
}

// take returns the directory of a tool or another script. The caller must call
// [privateDirs.give] later.
func (all *privateDirs) take(state *project.State, key string) (*privateDir, error) {
	all.mu.Lock()
	all.last++
	b := all.of[key]
	if b == nil {
		name := "private." + strconv.Itoa(all.last)
		b = &privateDir{dir: filepath.Join(state.Dir, name)}
		b.open = func() (*os.Root, error) { return b.make(state, name) }
		b.files = state.Handoffs.Pool(b.dir, b.open)
		if all.of == nil {
			all.of = map[string]*privateDir{}
		}
		all.of[key] = b
	}
	b.users++
	b.used = all.last
	all.mu.Unlock()
	if _, err := b.open(); err != nil { // a domain needs existing files, because it identifies files, not names
		all.give(b)
		return nil, err
	}
	return b, nil
}

// make creates the directory and its subdirectory if they do not exist. The script, or a program that
// cleans temporary files, may remove them while the server runs.
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

// create creates and opens the directory. The caller has locked b.mu.
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
	b.made.Store(nil) // the profile identifies files, not names
	return nil
}

func isAt(path string, file fs.FileInfo) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(there, file)
}

// give releases a directory. It removes the oldest unused directory if there are too many.
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
