package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A State is the private directory of one run of a program: what it and its
// scripts hand each other lies there (protocol section 3). It is made when it is
// first needed: a session that starts no script writes no file.
type State struct {
	Dir   string // mode 0700
	ours  bool   // made by us, so removed by us
	claim *os.File
	made  atomic.Bool // Make was called
	make  func() error

	mu    sync.Mutex
	there bool              // the directory is there
	files map[string]string // what is to be written once it is
}

// statePrefix begins the name of every state directory we make; claimFile is
// locked in it as long as its owner lives.
const (
	statePrefix = "mcpbash.state."
	claimFile   = "owner"
)

// ErrNoState is the error when no state directory can be made.
var ErrNoState = errors.New("mcp-bash: set MCPBASH_TMP_ROOT to a short, writable directory (Windows path length limits may apply).")

// NewState says where the directory will be, or takes the one of
// MCPBASH_STATE_DIR, which is never removed. dir is where it was tried when
// there is no place for it.
func NewState(env Env, s *Settings) (state *State, dir string, err error) {
	if s.Logging.Dir != "" {
		os.MkdirAll(s.Logging.Dir, 0o700)
	}
	if dir := env["MCPBASH_STATE_DIR"]; dir != "" {
		if dir, err = filepath.Abs(dir); err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return nil, dir, ErrNoState
		}
		return newState(dir, false), dir, nil
	}
	name := statePrefix + processTag()
	for i, base := range tmpBases(env, s.TmpRoot) {
		if base == "" {
			continue
		}
		if abs, err := filepath.Abs(base); err == nil {
			base = abs
		}
		if i == 0 && !exists(base) {
			os.MkdirAll(base, 0o700)
		}
		if isWritable(base) {
			dir := filepath.Join(base, name)
			return newState(dir, true), dir, nil
		}
	}
	return nil, filepath.Join(s.TmpRoot, name), ErrNoState
}

func newState(dir string, ours bool) *State {
	s := &State{Dir: dir, ours: ours}
	s.make = sync.OnceValue(func() error {
		s.made.Store(true)
		if ours {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return fmt.Errorf("%w\n%w", err, ErrNoState)
			}
			s.claim, _ = claim(filepath.Join(dir, claimFile))
		}
		if err := s.makeHelper(); err != nil {
			return err
		}
		return s.putAll()
	})
	return s
}

// Put has a file in the directory hold a text, before the first script that
// is started from now on. While there is no directory it costs nothing.
func (s *State) Put(name, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.there {
		return s.write(name, text)
	}
	if s.files == nil {
		s.files = map[string]string{}
	}
	s.files[name] = text
	return nil
}

func (s *State) putAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there = true
	for name, text := range s.files {
		if err := s.write(name, text); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600)
}

// Make makes the directory, and the running executable appear in it as
// [State.Helper], unless that was done before.
func (s *State) Make() error { return s.make() }

// NewDebugState makes the directory of mcp-bash debug, which stays (P-2500).
func NewDebugState(env Env) (*State, error) {
	dir, err := os.MkdirTemp(or(env["TMPDIR"], systemTmp()), "mcpbash.debug.")
	if err != nil {
		return nil, err
	}
	s := newState(dir, false)
	s.ours = true
	return s, s.Make()
}

// Helper is the path under which scripts find our jq-compatible program
// (P-111).
func (s *State) Helper() string { return filepath.Join(s.Dir, "bin", helperName) }

func (s *State) makeHelper() error {
	if err := os.MkdirAll(filepath.Dir(s.Helper()), 0o700); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return linkHelper(exe, s.Helper())
}

// Remember notes a directory that goes when the state goes, so that a later
// start can remove it should this one be killed.
func (s *State) Remember(dir string) {
	s.Make()
	os.Symlink(dir, filepath.Join(s.Dir, "also"))
}

// Remove removes a directory that we made.
func (s *State) Remove() {
	if s.ours && s.made.Load() {
		s.Make() // it may be about to be made
		removeState(s.Dir)
	}
	s.Release()
}

// Release gives up the claim on the directory and leaves it in place.
func (s *State) Release() {
	if s.claim != nil {
		s.claim.Close()
	}
}

func removeState(dir string) {
	if also, err := os.Readlink(filepath.Join(dir, "also")); err == nil && strings.HasPrefix(filepath.Base(also), "mcpbash.") {
		os.RemoveAll(also)
	}
	os.RemoveAll(dir)
}

// unclaimedAge is how long a directory without claim file is left alone: its
// owner may be about to make it.
const unclaimedAge = time.Minute

// CleanTmp removes what runs that were killed have left behind: directories
// that nobody claims any more, and scripts that still run for them.
func CleanTmp(tmpRoot string) {
	list, err := os.ReadDir(tmpRoot)
	if err != nil {
		return
	}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), statePrefix) || !e.IsDir() {
			continue
		}
		dir := filepath.Join(tmpRoot, e.Name())
		info, err := os.Lstat(dir)
		if err != nil || DistrustMode(info) != "" || preserved(dir) {
			continue
		}
		file := filepath.Join(dir, claimFile)
		if _, err := os.Lstat(file); err != nil {
			if time.Since(info.ModTime()) > unclaimedAge {
				removeState(dir)
			}
			continue
		}
		if held, err := claim(file); err == nil {
			killOrphans(dir)
			removeState(dir)
			held.Close()
		}
	}
}

// Preserve marks a directory that a later start must leave alone.
func (s *State) Preserve() { os.WriteFile(filepath.Join(s.Dir, "preserved"), nil, 0o600) }

func preserved(dir string) bool { return exists(filepath.Join(dir, "preserved")) }
