package project

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
)

// A State is the private directory of one run of a program: what it and its
// scripts hand each other lies there (protocol section 3). It is made when it is
// first needed: a session that starts no script writes no file. Should it get
// lost, it is made again.
type State struct {
	Dir  string   // mode 0700
	Logs *os.Root // the log directory of the settings; nil when there is none
	// Program is the program that Helper leads to, or "" for this one.
	Program string

	ours bool // made by us, so removed by us

	mu       sync.Mutex
	dir      *TempDir          // nil until it is made
	complete bool              // it holds what it should
	claimed  time.Time         // when the claim on it was last seen
	ended    bool              // it is not made any more
	files    map[string]string // texts that it is to hold, by name
}

// errNoState is the error when no state directory can be made.
var errNoState = errors.New("mcp-bash: set MCPBASH_TMP_ROOT to a short, writable directory (Windows path length " +
	"limits may apply)")

// NewState says where the directory will be, or takes the one of
// MCPBASH_STATE_DIR, which is never removed. dir is where it was tried when
// there is no place for it.
func NewState(env Env, s *Settings) (state *State, dir string, err error) {
	if dir, err = refuseLinks(env); err != nil {
		return nil, dir, err
	}
	logs := openLogs(s)
	if dir := env["MCPBASH_STATE_DIR"]; dir != "" {
		if dir, err = filepath.Abs(dir); err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return nil, dir, errNoState
		}
		return &State{Dir: dir, Logs: logs}, dir, nil
	}
	name := statePrefix + processTag()
	for _, base := range tmpBases(env, s.TmpRoot) {
		if base == "" {
			continue
		}
		if abs, err := filepath.Abs(base); err == nil {
			base = abs
		}
		if isWritable(base) {
			dir := filepath.Join(base, name)
			return &State{Dir: dir, Logs: logs, ours: true}, dir, nil
		}
	}
	return nil, filepath.Join(s.TmpRoot, name), errNoState
}

// refuseLinks returns an error for a directory of the settings that is a symbolic
// link: whoever can change the link chooses where our files go (P-309).
func refuseLinks(env Env) (dir string, err error) {
	for _, name := range []string{"MCPBASH_STATE_DIR", "MCPBASH_LOCK_ROOT", "MCPBASH_LOG_DIR"} {
		if env[name] == "" {
			continue
		}
		if dir, err = filepath.Abs(env[name]); err != nil {
			return env[name], err
		}
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return dir, fmt.Errorf("mcp-bash: %s is a symlink; set it to the directory that the link leads to", name)
		}
	}
	return "", nil
}

// openLogs makes the log directory and opens it before a script can put
// something else in its place. The server does without one that cannot be had,
// or that is to lie in a base of temporary files that is not there (P-300).
func openLogs(s *Settings) *os.Root {
	dir := s.Logging.Dir
	if dir == "" || filepath.Dir(dir) == s.TmpRoot && !exists(s.TmpRoot) {
		return nil
	}
	os.MkdirAll(dir, 0o700)
	root, err := handoff.OpenDir(dir)
	if err != nil {
		return nil
	}
	return root
}

// Make makes the directory with what belongs into it, as far as that is not there. Programs that clean
// directories of temporary files remove what is old one by one, and not the directory alone.
func (s *State) Make() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete && s.lacks() {
		s.complete = false
	}
	_, err := s.open()
	return err
}

// Root makes the directory, unless it is there, and returns it open. It is another one after a
// loss.
func (s *State) Root() (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open()
}

// claimCheck is how often the claim on the directory is looked at. Directories are cleaned of what is
// days old.
const claimCheck = time.Minute

// lacks reports whether something got lost of what is made with the directory. The lock is held.
func (s *State) lacks() bool {
	if _, err := os.Lstat(s.Helper()); err != nil {
		return true
	}
	now := time.Now()
	if now.Sub(s.claimed) < claimCheck {
		return false
	}
	s.claimed = now
	return !s.dir.isClaimed()
}

// open is [State.Root]. The lock is held.
func (s *State) open() (*os.Root, error) {
	if s.ended { // a call that comes late would leave it behind
		return nil, &StateError{s.Dir, fs.ErrClosed}
	}
	if s.dir != nil && !s.dir.isThere() {
		s.dir, s.complete = nil, false // closed when nobody uses it any more
	}
	if !s.complete {
		if err := s.fill(); err != nil {
			return nil, &StateError{s.Dir, err}
		}
		s.complete, s.claimed = true, time.Now()
	}
	return s.dir.root, nil
}

// A StateError says why the private directory of a run cannot be had.
type StateError struct {
	Dir string
	Err error
}

func (e *StateError) Error() string {
	reason := e.Err
	var path *fs.PathError
	var insecure *trust.InsecureError
	if errors.As(reason, &insecure) {
		return "private directory " + insecure.Error()
	}
	if errors.As(reason, &path) {
		reason = path.Err // which of the files in it does not matter
	}
	return fmt.Sprintf("private directory %s: %s; MCPBASH_TMP_ROOT chooses another place", e.Dir, reason)
}

func (e *StateError) Unwrap() error { return e.Err }

// fill makes the directory and what belongs into it, as far as it is missing.
func (s *State) fill() (err error) {
	if s.dir == nil {
		if s.ours {
			s.dir, err = makeTempDir(s.Dir)
		} else {
			s.dir, err = takeTempDir(s.Dir)
		}
	} else if !s.dir.isClaimed() {
		err = s.dir.own()
	}
	if err != nil {
		return err
	}
	if err := s.putHelper(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if err := s.write(name); err != nil {
			return err
		}
	}
	return nil
}

// Put has a file in the directory hold a text, before the first script that
// is started from now on. While there is no directory it costs nothing.
func (s *State) Put(name, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]string{}
	}
	s.files[name] = text
	if !s.complete {
		return nil
	}
	return s.write(name)
}

func (s *State) write(name string) error {
	return handoff.Put(s.dir.root, name, []byte(s.files[name]))
}

// NewDebugState makes the directory of mcp-bash debug, which stays (P-2500).
func NewDebugState(env Env) (*State, error) {
	if dir, err := refuseLinks(env); err != nil {
		return nil, &StateError{dir, err}
	}
	s := &State{Dir: filepath.Join(or(env["TMPDIR"], systemTmp()), "mcpbash.debug."+processTag()), ours: true}
	return s, s.Make()
}

// Helper is the path under which scripts find our jq-compatible program
// (P-111).
func (s *State) Helper() string { return filepath.Join(s.Dir, helperDir, helperName) }

const helperDir = "bin"

func (s *State) putHelper() error {
	if err := s.dir.root.Mkdir(helperDir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	program := s.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	return linkHelper(program, s.dir.root, helperDir+"/"+helperName)
}

// EndScripts terminates what the scripts of the run have left running, and reports that and what it does
// not terminate, a line each (P-908). The run is over then.
func (s *State) EndScripts(r *script.Runner, report func(line string)) {
	for _, group := range r.End() {
		report(fmt.Sprintf("mcp-bash: terminated process group %d, which a script had left running", group))
	}
	s.mu.Lock()
	made := s.dir != nil
	s.mu.Unlock()
	if !made { // no script ran
		return
	}
	for _, pid := range runningFor(s.Dir) {
		report(fmt.Sprintf("mcp-bash: process %d (%s) keeps running, as a tool started it in a session or process "+
			"group of its own", pid, programOf(pid)))
	}
}

// Remove removes a directory that we made. It is not made again.
func (s *State) Remove() { s.end((*TempDir).Remove) }

// Release gives up the claim on the directory and leaves it in place.
func (s *State) Release() { s.end((*TempDir).Release) }

func (s *State) end(how func(*TempDir)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.dir == nil {
		return
	}
	if !s.ours {
		how = (*TempDir).Release
	}
	how(s.dir)
	s.dir, s.complete = nil, false
}

// Preserve marks a directory that a later start must leave alone.
func (s *State) Preserve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != nil {
		handoff.Put(s.dir.root, preservedFile, nil)
	}
}

// IsWritable reports whether we can make files in a directory.
func IsWritable(dir string) bool { return isWritable(dir) }
