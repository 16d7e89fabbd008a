// Package ask runs programs to get their help texts. A program is started only with words that ask for help or its
// version. It runs in an empty home directory with limits on time and output.
package ask

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/helptext"
)

// Limits on one run of a program.
const (
	timeLimit  = 10 * time.Second
	textLimit  = 1 << 20
	graceLimit = 200 * time.Millisecond
)

// An Asker runs programs to get their help. Its methods are safe for concurrent use.
type Asker struct {
	runner script.Runner
	path   string                // PATH
	limit  time.Duration         // the time limit of each run
	kernel func() confine.Kernel // the kernel's means to confine a run
}

// New returns an Asker that finds programs on path, a PATH.
func New(path string) *Asker { return &Asker{path: path, limit: timeLimit, kernel: confine.Offered} }

// Confines reports whether the kernel can confine what is started.
func (a *Asker) Confines() bool { return !a.kernel().None() }

// Find returns the file of a program, given its name on PATH or its path. It returns "" if
// there is no such program.
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

// An answer is the output of one run.
type answer struct {
	text   []byte // standard output, or else standard error
	out    []byte
	status int
	cause  error // the limit that ended the run, or nil
}

// run runs a program with the words that ask for help. Programs that are being wrapped are started only here. If the
// kernel supports it, the program can only read, and write in its own directories. It has no network and cannot signal
// others. Processes that it leaves running are killed.
func (a *Asker) run(ctx context.Context, program string, words []string) (answer, error) {
	place, err := os.MkdirTemp("", "mcp-wrap.")
	if err != nil {
		return answer{}, err
	}
	defer os.RemoveAll(place)
	if place, err = filepath.EvalSymlinks(place); err != nil {
		return answer{}, err
	}
	for _, name := range []string{"home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(place, name), 0o700); err != nil {
			return answer{}, err
		}
	}
	spec := script.Spec{
		Argv: append([]string{program}, words...), Dir: place + "/work", Env: a.environment(place),
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
	script.AdoptOrphans()
	defer a.runner.KillLeft()
	res := a.runner.Run(ctx, spec)
	ans := answer{text: res.Stdout, out: res.Stdout, status: res.Status, cause: res.Cause}
	if describes(res.Stderr) > describes(res.Stdout) || len(strings.TrimSpace(string(ans.text))) == 0 {
		ans.text = res.Stderr
	}
	return ans, context.Cause(ctx)
}

// environment returns the variables for a run. Of the user's variables they include only PATH and those that locate
// libraries. No variable enables colours, a pager, a terminal or another language.
func (a *Asker) environment(place string) []string {
	home := place + "/home"
	env := []string{
		"PATH=" + a.path, "HOME=" + home, "TMPDIR=" + place + "/tmp", "PWD=" + place + "/work",
		"XDG_CONFIG_HOME=" + home + "/.config", "XDG_CACHE_HOME=" + home + "/.cache",
		"XDG_DATA_HOME=" + home + "/.local/share", "XDG_STATE_HOME=" + home + "/.local/state",
		"XDG_RUNTIME_DIR=" + place + "/tmp", "LC_ALL=C.UTF-8", "LANG=C.UTF-8", "LANGUAGE=C",
		"TZ=UTC", "TERM=dumb", "COLUMNS=80", "LINES=10000", "NO_COLOR=1", "CLICOLOR=0",
		"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=", "LESS=", "CI=1", "NO_UPDATE_NOTIFIER=1",
		"PYTHONDONTWRITEBYTECODE=1", "GOTOOLCHAIN=local",
	}
	// These variables belong to the installation of an interpreter.
	for _, name := range []string{"PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB", "LD_LIBRARY_PATH", "SystemRoot",
		"PATHEXT"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Errors for a program whose options cannot be found.
var (
	ErrNotFound = errors.New("not found")
	ErrNothing  = errors.New("describes no options")
)

// An Answer is the help of a command.
type Answer struct {
	Help   helptext.Help
	Text   string   // of which Help was read
	Word   string   // that made the program print it
	Status int      // the exit status then
	File   string   // the program
	Plugin string   // the program of the command, such as "git-lfs", if there is one
	Notes  []string // problems that were ignored
}

// describes returns the number of options and operands that a text describes.
func describes(text []byte) int {
	h := helptext.Read(string(text))
	return len(h.Options) + len(h.Operands)
}

// Help asks a program or a command for help: with --help, and with -h if that describes no option. A program that does
// not know these words may do its normal work, which the confinement limits.
func (a *Asker) Help(ctx context.Context, words []string) (*Answer, error) {
	found := &Answer{File: a.Find(words[0])}
	if found.File == "" {
		return nil, ErrNotFound
	}
	for _, word := range []string{"--help", "-h"} {
		asked := append(slices.Clone(words[1:]), word)
		ans, err := a.run(ctx, found.File, asked)
		line := strings.Join(append([]string{filepath.Base(words[0])}, asked...), " ")
		switch {
		case err != nil:
			return nil, err
		case errors.Is(ans.cause, script.ErrTimedOut):
			found.Notes = append(found.Notes, fmt.Sprintf("%s: not done after %v, so it was ended", line, a.limit))
			continue
		case ans.cause != nil:
			found.Notes = append(found.Notes,
				fmt.Sprintf("%s: prints more than %d bytes, which are ignored", line, textLimit))
			continue
		}
		h := helptext.Read(string(ans.text))
		if h.Usage || len(h.Options) > len(found.Help.Options) {
			found.Help, found.Text, found.Word, found.Status = h, string(ans.text), word, ans.status
		}
		if len(h.Options) > 0 {
			break
		}
	}
	if plugin := filepath.Base(words[0]) + "-" + strings.Join(words[1:], "-"); len(words) == 2 && a.Find(plugin) != "" {
		found.Plugin = plugin
	}
	if len(words) > 1 && len(found.Help.Options)+len(found.Help.Operands) == 0 {
		return found, ErrNothing
	}
	return found, nil
}

// Manual returns the manual page of a program or a command, or "" without one.
func (a *Asker) Manual(ctx context.Context, words []string) (string, error) {
	man := a.Find("man")
	if man == "" {
		return "", nil
	}
	page := strings.Join(append([]string{filepath.Base(words[0])}, words[1:]...), "-")
	text, err := a.Output(ctx, man, []string{"-P", "cat", "--", page})
	if err != nil {
		return "", context.Cause(ctx) // there is no such page, or the run was interrupted
	}
	return string(text), nil
}

// Output runs a program with words that make it print something, and returns its standard output.
func (a *Asker) Output(ctx context.Context, file string, words []string) ([]byte, error) {
	ans, err := a.run(ctx, file, words)
	if err == nil {
		err = ans.cause
	}
	if err == nil && ans.status != 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(string(ans.text)), "\n")
		err = fmt.Errorf("exit status %d: %.200q", ans.status, line)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return ans.out, nil
}

// Version returns the text that a program prints about its version. words are the words that ask
// for it, such as --version.
func (a *Asker) Version(ctx context.Context, program string, words []string) (string, error) {
	file := a.Find(program)
	if file == "" {
		return "", ErrNotFound
	}
	ans, err := a.run(ctx, file, words)
	return string(ans.text), err
}
