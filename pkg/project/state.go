package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
)

// A State is the private directory of one run of a program, through which the program and its scripts exchange files
// (protocol section 3). The first script creates it, so a session without scripts writes no file. If another program
// removes the directory, the next script creates it again.
type State struct {
	Dir  string   // mode 0700
	Logs *os.Root // the log directory of the settings, or nil
	// Program is the program that Helper leads to. If it is "", scripts get no helper.
	Program string
	// Handoffs keeps hand-off directories for the next scripts.
	Handoffs handoff.Cache

	pool sync.Once
	own  *handoff.Pool

	ours bool // MCPBASH_STATE_DIR names no directory, so this process removes Dir at its end

	mu       sync.Mutex
	dir      *TempDir          // nil until it exists
	complete bool              // its files exist
	claimed  time.Time         // the time of the last check of its claim
	ended    bool              // it is not created again
	files    map[string]string // the texts of its files, by name
}

// A NoStateError means that no directory for private files is usable. Its text is a hint for users. It wraps
// [syscall.EROFS] or [fs.ErrPermission] if that is the reason.
type NoStateError struct {
	Dir string // the directory that is not writable
	Err error
}

func (e *NoStateError) Error() string {
	switch remedy := "mount a writable directory there (in a container: on /tmp), or set MCPBASH_TMP_ROOT to one"; {
	case errors.Is(e.Err, syscall.EROFS):
		return "mcp-bash: the file system of " + e.Dir + " is read-only; " + remedy
	case errors.Is(e.Err, fs.ErrPermission):
		return "mcp-bash: this user has no permission to write to " + e.Dir + "; " + remedy
	}
	return "mcp-bash: set MCPBASH_TMP_ROOT to a short, writable directory (Windows path length limits may apply)"
}

func (e *NoStateError) isClear() bool {
	return errors.Is(e.Err, syscall.EROFS) || errors.Is(e.Err, fs.ErrPermission)
}

func (e *NoStateError) Unwrap() error { return e.Err }

// NewState chooses the path of the directory. It uses MCPBASH_STATE_DIR if that is set, and never removes it. If
// there is no usable path, dir is the path that was tried.
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
			return nil, dir, &NoStateError{dir, err}
		}
		return &State{Dir: dir, Logs: logs, Program: self()}, dir, nil
	}
	name := statePrefix + processTag()
	var unusable *NoStateError // the first error, or the first one with a clear reason
	for _, base := range tmpBases(env, s.TmpRoot) {
		if base == "" {
			continue
		}
		if abs, err := filepath.Abs(base); err == nil {
			base = abs
		}
		if err := checkWritable(base); err != nil {
			if unusable == nil || !unusable.isClear() {
				unusable = &NoStateError{base, err}
			}
			continue
		}
		dir := filepath.Join(base, name)
		return &State{Dir: dir, Logs: logs, Program: self(), ours: true}, dir, nil
	}
	return nil, filepath.Join(s.TmpRoot, name), unusable
}

// refuseLinks returns an error if a directory of the settings is a symbolic link. Users who can change the link could
// redirect our files.
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

// openLogs creates the log directory, and opens it before a script can replace it. The result is nil if that fails, or
// if the directory belongs in a missing temporary directory.
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

// Make creates the directory and its missing files. Programs that clean temporary directories may have removed some
// of them.
func (s *State) Make() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete && s.lacks() {
		s.complete = false
	}
	_, err := s.open()
	return err
}

// Root returns the open directory, and creates it if it is missing.
func (s *State) Root() (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open()
}

// Files returns the hand-off directories of scripts that are not confined.
func (s *State) Files() *handoff.Pool {
	s.pool.Do(func() { s.own = s.Handoffs.Pool(s.Dir, s.Root) })
	return s.own
}

// claimCheck is the interval of checks of the claim. Cleaning programs remove files that are days old.
const claimCheck = time.Minute

// lacks reports whether the helper or the claim was removed. The caller has locked mu.
func (s *State) lacks() bool {
	if _, err := os.Lstat(s.Helper()); err != nil && s.Program != "" {
		return true
	}
	now := time.Now()
	if now.Sub(s.claimed) < claimCheck {
		return false
	}
	s.claimed = now
	return !s.dir.isClaimed()
}

// open is [State.Root]. The caller has locked mu.
func (s *State) open() (*os.Root, error) {
	if s.ended { // nothing would remove a new directory
		return nil, stateError(s.Dir, fs.ErrClosed)
	}
	if s.dir != nil && !s.dir.isThere() {
		s.dir, s.complete = nil, false // the garbage collector closes it, because a call may still use it
	}
	if !s.complete {
		if err := s.fill(); err != nil {
			return nil, stateError(s.Dir, err)
		}
		s.complete, s.claimed = true, time.Now()
	}
	return s.dir.root, nil
}

// stateError returns the reason why the private directory of a run cannot be created.
func stateError(dir string, err error) error {
	if insecure, ok := errors.AsType[*trust.InsecureError](err); ok {
		return fmt.Errorf("private directory %w", insecure)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name of the file does not matter
	}
	return fmt.Errorf("private directory %s: %w; MCPBASH_TMP_ROOT chooses another place", dir, err)
}

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

// Put sets the text of a file in the directory, before the next script starts. It writes nothing until the directory
// exists.
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

// NewDebugState creates the directory of mcp-bash debug, which is kept.
func NewDebugState(env Env) (*State, error) {
	if dir, err := refuseLinks(env); err != nil {
		return nil, stateError(dir, err)
	}
	s := &State{Dir: filepath.Join(cmp.Or(env["TMPDIR"], systemTmp()), "mcpbash.debug."+processTag()), ours: true}
	s.Program = self()
	return s, s.Make()
}

// Helper returns the path of our jq-compatible program for scripts, or "" without mcp-bash.
func (s *State) Helper() string {
	if s.Program == "" {
		return ""
	}
	return filepath.Join(s.Dir, helperDir, helperName)
}

// UseMCPBash is for other programs than mcp-bash that run scripts. Helper then leads to the mcp-bash next to them.
// Otherwise, it leads to this program, which forwards to the mcp-bash on the PATH of tools. Without any, scripts
// get no helper.
func (s *State) UseMCPBash(p *Project) {
	if sibling := script.Sibling(mcpBash); sibling != "" {
		s.Program = sibling
	} else if script.LookPath(mcpBash, p.ToolBase(&p.Scripts.Tools)["PATH"]) == "" {
		s.Program = ""
	}
}

const mcpBash = "mcp-bash"

// self returns the path of this program, or "".
func self() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return program
}

const helperDir = "bin"

func (s *State) putHelper() error {
	if s.Program == "" {
		return nil
	}
	if err := s.dir.root.Mkdir(helperDir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return linkHelper(s.Program, s.dir.root, helperDir+"/"+helperName)
}

// EndScripts ends the run. It terminates processes that scripts have left running. It reports them, and processes that
// it cannot terminate, on a line each.
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

// Remove removes a directory that we created. It is not created again.
func (s *State) Remove() { s.end((*TempDir).Remove) }

// Release ends the claim on the directory, and keeps its files.
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

// Preserve marks the directory, so that later starts do not remove it.
func (s *State) Preserve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != nil {
		handoff.Put(s.dir.root, preservedFile, nil)
	}
}
