package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"mcp-bash/pkg/handoff"
	"mcp-bash/pkg/project"
)

// A box is the private directory of a confined tool: its hand-off directories and its
// temporary files. A domain is made for a tool, not for a call, so the calls of one tool
// share it (CF-11).
type box struct {
	dir   string
	files *handoff.Pool
	users int // the lock of boxes is held for these
	used  int // when it was taken last, as a number that grows
	open  func() (*os.Root, error)

	mu     sync.Mutex
	parent *os.Root // what root was made in
	root   *os.Root
}

const (
	mostBoxes = 16 // kept for tools that no call uses
	tempName  = "tmp"
)

// boxes are those of the tools that were called lately.
type boxes struct {
	mu   sync.Mutex
	of   map[string]*box // by script
	last int             // the last number given
}

// take returns the box of a script, which [boxes.give] takes back.
func (all *boxes) take(state *project.State, script string) (*box, error) {
	all.mu.Lock()
	all.last++
	b := all.of[script]
	if b == nil {
		name := "tool." + strconv.Itoa(all.last)
		b = &box{dir: filepath.Join(state.Dir, name)}
		b.open = func() (*os.Root, error) { return b.make(state, name) }
		b.files = handoff.NewPool(b.dir, b.open)
		if all.of == nil {
			all.of = map[string]*box{}
		}
		all.of[script] = b
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

// make makes the directory, unless it is there.
func (b *box) make(state *project.State, name string) (*os.Root, error) {
	parent, err := state.Root()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parent == parent {
		return b.root, nil
	}
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := root.Mkdir(tempName, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		root.Close()
		return nil, err
	}
	b.parent, b.root = parent, root
	return root, nil
}

// give takes a box back. Of those that nobody uses, the ones of the last tools stay.
func (all *boxes) give(b *box) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if b.users--; b.users > 0 {
		return
	}
	var oldest string
	idle := 0
	for script, one := range all.of {
		if one.users == 0 {
			if idle++; oldest == "" || one.used < all.of[oldest].used {
				oldest = script
			}
		}
	}
	if idle > mostBoxes {
		go all.of[oldest].remove()
		delete(all.of, oldest)
	}
}

func (b *box) remove() {
	b.files.Drop()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root != nil {
		b.root.Close()
		b.parent.RemoveAll(filepath.Base(b.dir))
	}
}
