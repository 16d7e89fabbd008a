package declare

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/internal/ctxlock"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

//go:embed hook.sh
var hookFunctions string

const (
	hookGrace     = 2 * time.Second
	hookScriptMax = 16 << 20
)

// A Hook runs server.d/register.sh. The result of a run is valid for all kinds until the
// TTL ends or the script changes (registry section 15, R-153).
type Hook struct {
	p     *project.Project
	o     HookOptions
	mutex ctxlock.Mutex
	// Guarded by mutex:
	warned bool
	sum    [sha256.Size]byte
	until  time.Time
	last   *hookRun // nil before the first run
}

// HookOptions are the functions that a Hook needs from the program.
type HookOptions struct {
	Runner  *script.Runner                 // nil: the script never runs
	Confine script.ConfineFunc             // nil: the script runs unconfined
	Env     func() project.Env             // of the script
	Private func() (dir string, err error) // returns a directory that nobody else can enter
	Now     func() time.Time
	Log     mcp.LogFunc // receives faults, and the log messages of the script
	Note    mcp.LogFunc // receives messages that are not faults of the project
}

// NewHook returns the hook of a project. It does not run the script.
func NewHook(p *project.Project, o HookOptions) *Hook {
	return &Hook{p: p, o: o, mutex: ctxlock.New()}
}

type hookRun struct {
	lists map[string]*List
	err   error
}

// A hookFault is the reason why the lists of a hook cannot be used. It makes all kinds
// unavailable.
type hookFault struct{ text string }

func (e *hookFault) Error() string { return "Manual registration " + e.text }

func (h *Hook) allowed() bool { return h.p.Discovery.Hooks && h.o.Runner != nil }

// script returns the text of the script, or nil if there is no executable script.
func (h *Hook) script() ([]byte, error) {
	p := h.p
	var insecure *trust.InsecureError
	file := code.Register.In(p)
	info, err := os.Lstat(file.Path())
	if err != nil {
		return nil, nil
	}
	text, _, errRead := folder.ReadFile(file.Path(), hookScriptMax)
	if info.Mode()&0o111 == 0 && !script.HasShebang(text) {
		return nil, nil
	}
	if err := p.CheckTrusted(file); errors.As(err, &insecure) {
		return nil, &hookFault{"script register.sh refused: " + p.Brief(insecure)}
	} else if err != nil {
		return nil, &hookFault{"script register.sh refused: " + fsys.Cause(err).Error()}
	}
	if errRead != nil {
		return nil, &hookFault{"script failed: " + fsys.Cause(errRead).Error()}
	}
	return text, nil
}

// Read returns the lists that the script registers, by the keys of the kinds. It runs the
// script if the result of the last run is no longer valid. Without a script the result is
// nil. The error is the reason why the lists cannot be used, or the context's error.
func (h *Hook) Read(ctx context.Context) (map[string]*List, error) {
	if !h.allowed() {
		return nil, nil
	}
	if err := h.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer h.mutex.Unlock()
	text, err := h.script()
	if text == nil || err != nil {
		return nil, err
	}
	if !h.holds(text) {
		run := h.run(ctx, text)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		h.sum, h.last, h.until = sha256.Sum256(text), run, h.o.Now().Add(h.p.Discovery.RegisterTTL)
	}
	return h.last.lists, h.last.err
}

// Present reports whether there is an executable script, trusted or not.
func (h *Hook) Present() bool {
	text, err := h.script()
	return text != nil || err != nil
}

// holds reports whether the result of the last run is still valid.
func (h *Hook) holds(text []byte) bool {
	return h.last != nil && h.o.Now().Before(h.until) && sha256.Sum256(text) == h.sum
}

// Due reports whether [Hook.Read] would run the script.
func (h *Hook) Due(ctx context.Context) bool {
	if !h.allowed() || h.mutex.Lock(ctx) != nil {
		return false
	}
	defer h.mutex.Unlock()
	text, err := h.script()
	return text != nil && err == nil && !h.holds(text)
}

func (h *Hook) run(ctx context.Context, text []byte) *hookRun {
	if !h.warned {
		h.warned = true
		h.o.Note(mcp.Warning, access.RegistryLogger, "Project hook execution enabled (MCPBASH_ALLOW_PROJECT_HOOKS=true); "+
			"ensure server.d/register.sh is trusted.")
	}
	copied, calls, err := h.copy(text)
	if err != nil {
		return &hookRun{err: err}
	}
	defer os.Remove(copied.Path())
	defer calls.remove()
	d := &h.p.Discovery
	spec := script.Spec{
		Argv: []string{"bash", "-c", hookFunctions, HookFile}, Sources: []code.File{copied},
		Args: []string{calls.Name(), h.p.Logging.Level.String()},
		Dir:  h.p.Root, Env: h.o.Env().Entries(),
		StdoutLimit: d.MaxManual, StderrLimit: d.MaxManual, Timeout: d.RegisterTimeout, Grace: hookGrace,
		Watch: func(time.Time) error { return calls.within(d.MaxBytes) },
	}
	if h.o.Confine != nil {
		release, err := h.o.Confine(&spec, calls.Name())
		if err != nil {
			return &hookRun{err: &hookFault{"script cannot be confined: " + err.Error()}}
		}
		defer release()
	}
	res := h.o.Runner.Run(ctx, spec)
	printed := append(append([]byte{}, res.Stdout...), res.Stderr...)
	switch {
	case errors.Is(res.Cause, script.ErrTimedOut):
		h.reportOutput(printed)
		return &hookRun{err: &hookFault{"script timed out"}}
	case errors.Is(res.Cause, folder.ErrTooLarge):
		return &hookRun{err: &hookFault{fmt.Sprintf("output exceeded %d bytes", d.MaxBytes)}}
	case errors.Is(res.Cause, script.ErrStdoutLimit), errors.Is(res.Cause, script.ErrStderrLimit),
		len(printed) > d.MaxManual:
		return &hookRun{err: &hookFault{fmt.Sprintf("output exceeded %d bytes", d.MaxManual)}}
	}
	if _, err := item.ParseObject(res.Stdout); err == nil { // the lists of R-157
		h.reportOutput(res.Stderr)
	} else {
		h.reportOutput(printed)
	}
	if res.Cause != nil || res.Status != 0 {
		return &hookRun{err: &hookFault{"script failed"}}
	}
	made, err := calls.read(d.MaxBytes)
	switch {
	case errors.Is(err, folder.ErrTooLarge):
		return &hookRun{err: &hookFault{fmt.Sprintf("output exceeded %d bytes", d.MaxBytes)}}
	case err != nil:
		return &hookRun{err: &hookFault{"script failed: " + err.Error()}}
	}
	return &hookRun{lists: listsOf(d, replay(made, h.o.Log), res.Stdout)}
}

// copy copies the script to a private file, so that exactly the checked text runs. It also
// creates the file for the calls of the script.
func (h *Hook) copy(text []byte) (copied code.File, calls *callsFile, err error) {
	dir, err := h.o.Private()
	if err != nil {
		return copied, nil, &hookFault{"script failed: " + err.Error()}
	}
	name := filepath.Join(dir, "register."+rand.Text())
	copied = code.PrivateCopy(code.Register.In(h.p), name+".sh")
	if err = os.WriteFile(copied.Path(), text, 0o600); err == nil {
		calls, err = newCallsFile(name + ".calls")
	}
	if again, errScript := h.script(); err == nil && (errScript != nil || !bytes.Equal(text, again)) {
		err = &hookFault{"script changed during execution; refusing to run."}
	}
	if err == nil {
		return copied, calls, nil
	}
	os.Remove(copied.Path())
	if calls != nil {
		calls.remove()
	}
	var fault *hookFault
	if !errors.As(err, &fault) {
		fault = &hookFault{"script failed: " + fsys.Cause(err).Error()}
	}
	return code.File{}, nil, fault
}

// reportOutput logs that the script printed unexpected output.
func (h *Hook) reportOutput(printed []byte) {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(printed, []byte("\uFFFD"))))
	switch {
	case text == "":
	case h.p.Logging.Verbose:
		h.o.Log(mcp.Warning, access.RegistryLogger, "Manual registration script output: "+text)
	default:
		h.o.Log(mcp.Warning, access.RegistryLogger,
			"Manual registration script produced output (enable MCPBASH_LOG_VERBOSE=true to view)")
	}
}
