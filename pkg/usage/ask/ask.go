// Package ask asks a program for its help: it runs it with nothing but the words that ask
// for help or for completion, held to a time and to an amount of text, in an empty home
// (WRAP-10 to WRAP-15), and has package usage read the answers.
package ask

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/confine"
	"mcp-bash/pkg/script"
	"mcp-bash/pkg/usage"
)

// Limits on one run of a program (WRAP-12).
const (
	timeLimit  = 10 * time.Second
	textLimit  = 1 << 20
	graceLimit = 200 * time.Millisecond
)

// An Asker asks programs. Its methods may be called from any goroutine.
type Asker struct {
	runner script.Runner
	path   string // PATH
	man    []string
	dir    string // a temporary directory, with nothing of the user's in it
	mu     sync.Mutex
	n      int                   // runs of programs
	limit  time.Duration         // of each
	kernel func() confine.Kernel // what a run can be held to
	spare  []string              // directories for the next runs
	known  map[string]Abilities  // of programs, by their files
}

// New returns an asker that finds programs on a PATH. Close removes what it made.
func New(path, manPath string) (*Asker, error) {
	dir, err := os.MkdirTemp("", "mcp-wrap.")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	return &Asker{path: path, dir: dir, man: manDirs(path, manPath), limit: timeLimit, kernel: confine.Offered,
		known: map[string]Abilities{}}, nil
}

// Close removes the temporary directory, and kills what still runs.
func (a *Asker) Close() {
	a.runner.KillAll()
	os.RemoveAll(a.dir)
}

// Find returns the file of a program: by its name on PATH, or by its path; "" for none.
func (a *Asker) Find(name string) string {
	if !strings.ContainsRune(name, filepath.Separator) {
		return script.LookPath(name, a.path)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	return script.LookPath(filepath.Base(abs), filepath.Dir(abs))
}

// An answer is what a program said.
type answer struct {
	text   []byte // standard output, or else standard error
	out    []byte
	status int
	cause  error // why it was ended: a limit
}

// run runs a program with the words that ask it. This is the one place where a program that
// is to be wrapped is started. Where the kernel can, it holds the program to reading, and to
// writing in its own place: no network, no signals to others (WRAP-14).
func (a *Asker) run(ctx context.Context, program string, words []string, more ...string) (answer, error) {
	place, err := a.takePlace()
	if err != nil {
		return answer{}, err
	}
	defer a.givePlace(place)
	spec := script.Spec{
		Argv: append([]string{program}, words...), Dir: place + "/work", Env: append(a.environment(place), more...),
		StdoutLimit: textLimit, StderrLimit: textLimit, Timeout: a.limit, Grace: graceLimit,
	}
	if k := a.kernel(); !k.None() {
		confined, err := a.runner.Confine(k, &confine.Profile{Read: []string{"/"}, Write: []string{place}, Process: true})
		if err != nil {
			return answer{}, fmt.Errorf("%s cannot be confined: %w", program, err)
		}
		defer confined.Release()
		spec.Confined = confined
	}
	res := a.runner.Run(ctx, spec)
	ans := answer{text: res.Stdout, out: res.Stdout, status: res.Status, cause: res.Cause}
	if len(strings.TrimSpace(string(ans.text))) == 0 || looksLikeUsage(res.Stderr) && !looksLikeUsage(res.Stdout) {
		ans.text = res.Stderr
	}
	return ans, context.Cause(ctx)
}

// places are what is in the directory of one run.
var places = []string{"home", "tmp", "work"}

// takePlace returns a directory with empty ones for a run: one that a run has left empty, or
// a new one.
func (a *Asker) takePlace() (string, error) {
	a.mu.Lock()
	if n := len(a.spare); n > 0 {
		defer a.mu.Unlock()
		place := a.spare[n-1]
		a.spare = a.spare[:n-1]
		return place, nil
	}
	a.n++
	place := filepath.Join(a.dir, strconv.Itoa(a.n))
	a.mu.Unlock()
	if err := os.Mkdir(place, 0o700); err != nil {
		return "", err
	}
	for _, name := range places {
		if err := os.Mkdir(filepath.Join(place, name), 0o700); err != nil {
			return "", err
		}
	}
	return place, nil
}

// givePlace keeps the directory of a run that has left nothing there, and removes any other.
func (a *Asker) givePlace(place string) {
	for _, name := range places {
		dir := filepath.Join(place, name)
		info, err := os.Lstat(dir)
		if err == nil && (!info.IsDir() || info.Mode().Perm() != 0o700) {
			err = os.ErrInvalid
		}
		var left []os.DirEntry
		if err == nil {
			left, err = os.ReadDir(dir)
		}
		if err != nil || len(left) > 0 {
			os.RemoveAll(place)
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spare = append(a.spare, place)
}

// environment is what a program that is asked sees: nothing of the user's but PATH, and
// nothing that brings colour, a pager, another language or a terminal (WRAP-11).
func (a *Asker) environment(place string) []string {
	home := place + "/home"
	env := []string{
		"PATH=" + a.path, "HOME=" + home, "TMPDIR=" + place + "/tmp", "PWD=" + place + "/work",
		"XDG_CONFIG_HOME=" + home + "/.config", "XDG_CACHE_HOME=" + home + "/.cache", "XDG_DATA_HOME=" + home +
			"/.local/share",
		"XDG_STATE_HOME=" + home + "/.local/state", "XDG_RUNTIME_DIR=" + place + "/tmp",
		"LC_ALL=C", "LANG=C", "LANGUAGE=C", "TZ=UTC", "TERM=dumb", "COLUMNS=80", "LINES=10000", "NO_COLOR=1", "CLICOLOR=0",
		"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=", "LESS=", "CI=1", "NO_UPDATE_NOTIFIER=1",
		"PYTHONDONTWRITEBYTECODE=1", "GOTOOLCHAIN=local",
	}
	// Where libraries of interpreters are, is a matter of the installation.
	for _, name := range []string{"PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB", "LD_LIBRARY_PATH", "SystemRoot",
		"PATHEXT"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Errors that say why nothing can be said about a program.
var (
	ErrNotFound = errors.New("not found")
	ErrNothing  = errors.New("says nothing about its options")
)

// An Answer is all that is known of a command.
type Answer struct {
	*usage.Program
	File  string // the program
	Can   Abilities
	Notes []string // what went wrong, and was done without
}

// Program asks a program, or a command of one, for all that it says of itself: completion,
// the manual page, its help, in this order (WRAP-10). Close ends it.
func (a *Asker) Program(ctx context.Context, words []string) (*Answer, error) {
	return a.about(ctx, words, true)
}

// about is Program; complete says whether to ask for completion.
func (a *Asker) about(ctx context.Context, words []string, complete bool) (*Answer, error) {
	file := a.Find(words[0])
	if file == "" {
		return nil, ErrNotFound
	}
	named := append([]string{filepath.Base(words[0])}, words[1:]...)
	ans := &Answer{File: file, Can: a.abilities(file)}
	help, err := a.help(ctx, file, named, ans)
	if err != nil {
		return nil, err
	}
	p := &usage.Program{Words: named, DashesAt: -1}
	if complete || help != nil && len(help.Subcommands) > 0 {
		completed, err := a.completion(ctx, file, named, help)
		if err != nil {
			return nil, err
		}
		p.Merge(completed)
	}
	p.Merge(a.manual(file, named))
	p.Merge(help)
	if help != nil {
		p.Style = help.Style
		if len(help.Operands) > 0 && help.Style != usage.StyleOther {
			p.Operands, p.DashesAt = help.Operands, help.DashesAt
		}
	}
	// Help texts of GNU's form come from all kinds of programs.
	p.Dashes = p.Dashes || p.Style == usage.StyleGNU && ans.Can.Getopt
	p.Settle()
	ans.Program = p
	if p.Empty() {
		return ans, ErrNothing
	}
	return ans, nil
}
