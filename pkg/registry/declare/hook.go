package declare

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/internal/ctxlock"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
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
	ran    bool
	lists  map[string]*List // of the last run
	err    error            // of the last run
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
		lists, err := h.run(ctx, text)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		h.ran, h.lists, h.err = true, lists, err
		h.sum, h.until = sha256.Sum256(text), h.o.Now().Add(h.p.Discovery.RegisterTTL)
	}
	return h.lists, h.err
}

// Present reports whether there is an executable script, trusted or not.
func (h *Hook) Present() bool {
	text, err := h.script()
	return text != nil || err != nil
}

// holds reports whether the result of the last run is still valid.
func (h *Hook) holds(text []byte) bool {
	return h.ran && h.o.Now().Before(h.until) && sha256.Sum256(text) == h.sum
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

func (h *Hook) run(ctx context.Context, text []byte) (map[string]*List, error) {
	if !h.warned {
		h.warned = true
		h.o.Note(mcp.Warning, access.RegistryLogger, "Project hook execution enabled (MCPBASH_ALLOW_PROJECT_HOOKS=true); "+
			"ensure server.d/register.sh is trusted.")
	}
	copied, calls, err := h.copy(text)
	if err != nil {
		return nil, err
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
			return nil, &hookFault{"script cannot be confined: " + err.Error()}
		}
		defer release()
	}
	res := h.o.Runner.Run(ctx, spec)
	printed := append(append([]byte{}, res.Stdout...), res.Stderr...)
	switch {
	case errors.Is(res.Cause, script.ErrTimedOut):
		h.reportOutput(printed)
		return nil, &hookFault{"script timed out"}
	case errors.Is(res.Cause, folder.ErrTooLarge):
		return nil, &hookFault{fmt.Sprintf("output exceeded %d bytes", d.MaxBytes)}
	case errors.Is(res.Cause, script.ErrStdoutLimit), errors.Is(res.Cause, script.ErrStderrLimit),
		len(printed) > d.MaxManual:
		return nil, &hookFault{fmt.Sprintf("output exceeded %d bytes", d.MaxManual)}
	}
	if _, err := item.ParseObject(res.Stdout); err == nil { // lists in JSON
		h.reportOutput(res.Stderr)
	} else {
		h.reportOutput(printed)
	}
	if res.Cause != nil || res.Status != 0 {
		return nil, &hookFault{"script failed"}
	}
	made, err := calls.read(d.MaxBytes)
	switch {
	case errors.Is(err, folder.ErrTooLarge):
		return nil, &hookFault{fmt.Sprintf("output exceeded %d bytes", d.MaxBytes)}
	case err != nil:
		return nil, &hookFault{"script failed: " + err.Error()}
	}
	return listsOf(d, replay(made, h.o.Log), res.Stdout), nil
}

// copy copies the script to a private file, so that exactly the checked text runs. It also creates the file for the
// calls of the script.
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

// A callsFile is the file to which register.sh writes its calls. It is opened before the script starts and read by its
// descriptor. So a file that the script puts in its place cannot block the reader.
type callsFile struct{ *os.File }

func newCallsFile(path string) (*callsFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &callsFile{f}, nil
}

// within returns [folder.ErrTooLarge] if the file is larger than a limit.
func (f *callsFile) within(limit int) error {
	info, err := f.Stat()
	if err == nil && info.Size() > int64(limit) {
		err = folder.ErrTooLarge
	}
	return err
}

// read returns the calls. It returns an error if the script has removed or replaced the
// file, because calls may be missing.
func (f *callsFile) read(limit int) ([]byte, error) {
	ours, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if there, err := os.Lstat(f.Name()); err != nil || !os.SameFile(ours, there) {
		return nil, errors.New("it removed or replaced the file that its calls are written to; leave MCPBASH_STATE_DIR alone")
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = folder.ErrTooLarge
	}
	return text, err
}

func (f *callsFile) remove() {
	f.Close()
	os.Remove(f.Name())
}

// A buffer contains the entries of one kind that register.sh registers. A new buffer accepts entries, as after a call
// of begin.
type buffer struct {
	closed   bool // by finalize or abort
	applied  bool // by finalize
	payloads [][]byte
}

func (b *buffer) call(name string, payload []byte) {
	switch name {
	case "begin":
		*b = buffer{}
	case "abort":
		*b = buffer{closed: true}
	case "register":
		if !b.closed && len(payload) > 0 {
			b.payloads = append(b.payloads, payload)
		}
	case "finalize":
		if !b.closed {
			b.closed, b.applied = true, true
		}
	}
}

// replay executes the calls that register.sh wrote to its calls file. It passes log messages
// to log.
func replay(calls []byte, log mcp.LogFunc) map[string]*buffer {
	buffers := make(map[string]*buffer)
	for kind := range declarable {
		buffers[kind.Key] = new(buffer)
	}
	texts := bytes.Split(calls, []byte{0})
	for ; len(texts) > 3; texts = texts[3:] {
		name, subject, text := string(texts[0]), string(texts[1]), texts[2]
		if level, ok := mcp.ParseLevel(name); ok {
			log(level, subject, string(text))
		} else if b := buffers[subject]; b != nil {
			b.call(name, text)
		}
	}
	return buffers
}

// listsOf returns the lists that register.sh registered or printed. Other kinds are not in the map.
func listsOf(d *project.Discovery, buffers map[string]*buffer, stdout []byte) map[string]*List {
	printed, err := item.ParseObject(stdout)
	if err != nil {
		printed = nil
	}
	lists := make(map[string]*List)
	for kind := range declarable {
		b := buffers[kind.Key]
		bulk := rawjson.Get(printed, kind.Key)
		var m *List
		switch {
		case b.applied || len(b.payloads) > 0:
			m = b.list(kind, d.ManualBuffer)
		case rawjson.KindOf(bulk) == rawjson.Array:
			m = listOf(kind, bulk) // in the form of register.json
		default:
			continue
		}
		m.Origin = HookFile
		lists[kind.Key] = m
	}
	return lists
}

// list returns the entries that the calls registered.
func (b *buffer) list(kind *kinds.Kind, completionLimit int) *List {
	m := &List{sorted: true, Merge: kind.Overlays && len(b.payloads) > 0}
	size := 0
	for i, payload := range b.payloads {
		entry, err := item.CheckJSON(payload, item.MaxNesting)
		if err != nil {
			noun := kind.Key
			if kind == kinds.Completions {
				noun = "completion"
			}
			return &List{Err: fmt.Errorf("manual %s registration finalize failed: %s[%d]: %w", noun, kind.Key, i, err)}
		}
		size += len(payload)
		m.entries = append(m.entries, entry)
	}
	if kind == kinds.Completions && completionLimit > 0 && size > completionLimit {
		return &List{Err: fmt.Errorf("manual completion buffer exceeded %d bytes", completionLimit)}
	}
	return m
}
