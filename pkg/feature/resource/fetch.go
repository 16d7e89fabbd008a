package resource

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

var errFailed = &provider.Failure{Status: 1}

const unsupportedText = "Unsupported resource provider"

// An unsupportedError is the error for a provider that does not exist.
type unsupportedError struct{ answer *mcp.Error }

func (e *unsupportedError) Error() string { return e.answer.Error() }
func (e *unsupportedError) Unwrap() error { return e.answer }

func unsupported(name string) error {
	reason := errors.New("the scheme of the URI cannot be the name of a provider")
	if validProvider(name) {
		reason = fmt.Errorf("there is no provider %q%s; correct the URI or its \"provider\", "+
			"or add providers/%s.sh to the project", name, cli.DidYouMean(name, provider.Names), name)
	}
	return &unsupportedError{mcp.Errorf(mcp.CodeInternal, unsupportedText).Because(mcp.CauseNotFound).WithReason(reason)}
}

// fetch reads the bytes with the project's provider script, or with the built-in provider. mimeType is the type that
// the provider reports, or "".
func (r *Resources) fetch(ctx context.Context, t *target, req *Request) (data []byte, mimeType string, err error) {
	if !validProvider(t.provider) {
		return nil, "", unsupported(t.provider)
	}
	limit := r.Project.MaxResource
	file := r.Scripts.Find(t.provider)
	if req.Slot != nil && (file != (code.File{}) || t.isRemote()) {
		if err := req.Slot.Enter(ctx); err != nil {
			return nil, "", err
		}
	}
	if file != (code.File{}) {
		data, err = r.run(ctx, t, file, limit, req.Bounded)
		return data, "", err
	}
	p := r.builtin(t.provider)
	if p == nil {
		return nil, "", unsupported(t.provider)
	}
	if r.Debug() {
		r.Log(mcp.Debug, logger, "Using framework provider: "+t.provider)
	}
	if typed, ok := p.(provider.Typed); ok {
		data, mimeType, err = typed.ReadTyped(ctx, t.uri, limit)
	} else {
		data, err = p.Read(ctx, t.uri, limit)
	}
	if err == nil && len(data) > limit {
		err = provider.OverLimit(limit)
	}
	return data, mimeType, err
}

// run reads the bytes with a provider script of the project.
func (r *Resources) run(ctx context.Context, t *target, file code.File, limit int, bounded bool) ([]byte, error) {
	if err := trust.CheckScript(r.Project.Root, r.Project.Providers, file.Path()); err != nil {
		r.Log(mcp.Err, logger, "Provider '"+t.provider+"' refused: "+err.Error())
		return nil, mcp.Errorf(mcp.CodeInternal, "Resource provider failed").WithReason(r.Project.Shown(err))
	}
	if r.Debug() {
		r.Log(mcp.Debug, logger, "Using project provider: "+file.Path())
	}
	spec := script.Spec{
		Script: file, Args: []string{t.uri}, Dir: r.Project.Root, Env: r.environ(t),
		StdoutLimit: limit, StderrLimit: r.Project.Calls.MaxStderr,
	}
	if strings.ContainsRune(t.uri, 0) { // an argument cannot contain NUL
		return nil, &provider.Failure{Status: provider.Invalid}
	}
	if !bounded {
		spec.Timeout = r.Project.Fetching.Timeout
	}
	hold, err := r.Sandbox.ConfineProvider(&sandbox.Subject{
		Name: "Provider '" + t.provider + "'", Script: file.Path(), Roots: roots.OfPaths(r.Builtin.FileRoots()),
	}, true)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "Resource provider failed").WithReason(err)
	}
	defer hold.End()
	pool := hold.Files(r.State.Files())
	files, err := pool.Take()
	if err != nil {
		r.Log(mcp.Err, logger, "Provider '"+t.provider+"': "+err.Error())
		return nil, mcp.Errorf(mcp.CodeInternal, "Resource provider failed").WithReason(err)
	}
	spec.Env = project.SetTemp(spec.Env, files.TempPath())
	hold.Apply(&spec)
	res := r.Runner.Run(ctx, spec)
	pool.Give(files, res.Alone)
	r.ScriptLog.Report("provider '"+t.provider+"'", res.Stderr)
	message := stderrText(res.Stderr)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(res.Cause, script.ErrTimedOut):
		e := mcp.Errorf(mcp.CodeInternal, "Request timed out").Because(mcp.CauseTime)
		e.Data = fmt.Appendf(nil, `{"timeoutSecs":%d}`, int(spec.Timeout.Seconds()))
		if reason := r.Project.Calls.StderrTo.Reason(message); reason != "" {
			e.Message += ": " + reason
		}
		return nil, e
	case errors.Is(res.Cause, script.ErrStdoutLimit):
		return nil, provider.OverLimit(limit)
	case res.Cause != nil:
		r.Log(mcp.Err, logger, "Provider '"+t.provider+"': "+res.Cause.Error())
		return nil, errFailed
	case res.Status != 0:
		return nil, &provider.Failure{Status: res.Status, Message: message}
	}
	if message != "" && r.Debug() { // RES-62
		r.Log(mcp.Debug, logger, "Provider '"+t.provider+"': "+message)
	}
	return res.Stdout, nil
}

// Scripts finds the provider scripts of a project. It is safe for concurrent use.
type Scripts struct {
	project *project.Project
	now     func() time.Time
	mu      sync.Mutex
	missing map[string]time.Time // the names of built-in providers without a script, and when that was found
}

// NewScripts returns the scripts of a project. It does not access the disk.
func NewScripts(p *project.Project) *Scripts {
	return &Scripts{project: p, now: time.Now, missing: map[string]time.Time{}}
}

// lookEvery is the minimum time between two checks for a missing script.
const lookEvery = 100 * time.Millisecond

// Find returns the project's script for a provider with a valid name, or a zero file.
func (s *Scripts) Find(name string) code.File {
	if !slices.Contains(provider.Names, name) { // names come from clients, so unknown ones are not stored
		return s.look(name)
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.missing[name]) < lookEvery {
		return code.File{}
	}
	file := s.look(name)
	if file == (code.File{}) {
		s.missing[name] = now
	}
	return file
}

func (s *Scripts) look(name string) code.File {
	file := code.Provider.Below(s.project, name+".sh")
	if info, err := os.Stat(file.Path()); err != nil || !info.Mode().IsRegular() {
		return code.File{}
	}
	return file
}

// Content is the content of a resource.
type Content struct {
	uri, mimeType string
	data          []byte
	blob          bool
	meta          json.RawMessage // nil if absent
	local         bool
}

// NewContent returns content that does not come from a provider. meta is the value of _meta, or nil.
func NewContent(uri, mimeType string, data []byte, isBlob bool, meta json.RawMessage) *Content {
	return &Content{uri: uri, mimeType: mimeType, data: data, blob: isBlob, meta: meta}
}

// Local reports whether the content comes from files of this machine, and not from a script or the
// network. Changes of such files can be detected without reading them.
func (c *Content) Local() bool { return c.local }

var localProviders = []string{"file", uiProvider, skillProvider}

// content returns the content with its MIME type, as text or blob. typed is the type that the provider reported, or "".
func (t *target) content(data []byte, typed string) *Content {
	c := &Content{uri: t.uri, data: data, local: slices.Contains(localProviders, t.provider)}
	switch {
	case t.provider == uiProvider:
		c.mimeType = mcp.UIMimeType
	case t.declared != "":
		c.mimeType = t.declared
	case typed != "":
		c.mimeType = typed
	default:
		c.mimeType = media.Detect(pathOf(t.uri), data)
	}
	c.blob = !media.IsText(data)
	return c
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (c *Content) Size() int {
	n := 256 + len(c.uri) + len(c.mimeType) + len(c.meta)
	if c.blob {
		return n + base64.StdEncoding.EncodedLen(len(c.data))
	}
	return n + len(c.data) + len(c.data)/16
}

// AppendJSON appends the result of a read and the members of the protocol revision.
func (c *Content) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Name("contents").Array().Object().Name("uri").String(c.uri).Name("mimeType").String(c.mimeType)
	if c.blob {
		b.Name("blob").Append(func(dst []byte) []byte {
			dst = append(dst, '"') // base64 needs no escapes
			return append(base64.StdEncoding.AppendEncode(dst, c.data), '"')
		})
	} else {
		b.Name("text").Append(func(dst []byte) []byte { return rawjson.AppendValid(dst, c.data) })
	}
	if len(c.meta) > 0 {
		b.Name("_meta").Raw(c.meta)
	}
	extra.AppendOwnMeta(b.End().End())
	return b.End().Bytes()
}

// refusal returns the failure of a provider as an error for the client. It returns other errors unchanged.
func (r *Resources) refusal(t *target, err error) error {
	var f *provider.Failure
	if !errors.As(err, &f) {
		return err
	}
	if f.Log != "" {
		r.Log(mcp.Warning, "mcp."+t.provider, f.Log) // only built-in providers set Log
	}
	text := stderrText([]byte(f.Message))
	or := func(code int, why mcp.Cause, def string) error {
		return &mcp.Error{Code: code, Message: cmp.Or(text, def), Cause: cmp.Or(f.Cause, why)}
	}
	if (f.Status == provider.Denied || f.Status == provider.NotFound) && !strings.ContainsAny(t.uri, `:/\`) { // RES-39
		e := NotFound("uri", t.uri)
		e.Message += fmt.Sprintf(": %q is not a URI; use a URI that resources/list returns, such as file:///...", t.uri)
		r.Log(mcp.Warning, logger, e.Message)
		return e
	}
	switch f.Status {
	case provider.Denied:
		if isOpaque(t.uri) {
			return NotFound("uri", t.uri)
		}
		return mcp.Errorf(mcp.CodeInternal, "Resource outside allowed roots").Because(mcp.CausePolicy)
	case provider.NotFound:
		return NotFound("uri", t.uri)
	case provider.Invalid:
		return or(mcp.CodeInvalidParams, mcp.CauseInvalid, "Invalid resource specification")
	case provider.FetchFailed:
		return or(mcp.CodeInternal, mcp.CauseTool, "Resource fetch failed")
	case provider.TooLarge:
		if limit := r.Project.MaxResource; *f == *provider.OverLimit(limit) {
			name := cmp.Or(t.name, "<direct>")
			r.Log(mcp.Err, logger, fmt.Sprintf("Resource %s content exceeds limit %d", name, limit))
		}
		return or(mcp.CodeInternal, mcp.CauseAnswer, "Resource exceeded size limit")
	}
	return or(mcp.CodeInternal, mcp.CauseTool, "Resource provider failed")
}

// isOpaque reports whether a text is a URI without an authority, such as urn:isbn:1, and not a path. One letter is a
// drive of Windows.
func isOpaque(text string) bool {
	scheme, rest, found := strings.Cut(text, ":")
	return found && len(scheme) > 1 && validProvider(scheme) && !strings.HasPrefix(rest, "//")
}

// NotFound returns the error of RES-36, with the requested name or URI as data.
func NotFound(member, value string) *mcp.Error {
	var b rawjson.Builder
	return &mcp.Error{Code: mcp.CodeNotFound, Own: true, Message: "Resource not found",
		Data: b.Object().Name(member).String(value).End().Bytes()}
}

// maxStderr limits the standard error of a provider in messages, in bytes.
const maxStderr = 2048

// stderrText returns a provider's standard error in a form that is safe for messages.
func stderrText(stderr []byte) string {
	text := strings.ToValidUTF8(string(stderr[:min(len(stderr), 2*maxStderr)]), "\uFFFD")
	text = strings.TrimRight(text, "\r\n")
	if len(text) <= maxStderr {
		return text
	}
	end := maxStderr
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRight(text[:end], "\r\n")
}
