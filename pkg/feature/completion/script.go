package completion

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

func (c *Completions) run(ctx context.Context, q *query, s *source, slot script.Slot) (*Result, error) {
	if slot != nil {
		if err := slot.Enter(ctx); err != nil {
			return nil, err
		}
	}
	spec, err := c.check(s)
	if err != nil {
		return nil, err
	}
	hold, err := c.Sandbox.ConfineProvider(&sandbox.Subject{
		Name: "Completion script " + s.label(c.Project), Script: spec.Script.Path(), Argv: spec.Argv,
	}, false)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "Completion script cannot be confined").WithReason(c.Project.Shown(err))
	}
	defer hold.End()
	pool := hold.Files(c.State.Files())
	files, err := pool.Take()
	if err != nil {
		return nil, fmt.Errorf("hand-off files: %w", err)
	}
	alone := true
	defer func() { pool.Give(files, alone) }()
	if spec.Env, err = c.environ(q, s, files); err != nil {
		return nil, fmt.Errorf("hand-off files: %w", err)
	}
	hold.Apply(&spec)
	res := c.Runner.Run(ctx, spec)
	alone = res.Alone
	c.ScriptLog.Report("completion '"+s.rel+"'", res.Stderr)
	if c.Project.Preserve {
		c.preserve(q.name, &res)
	}
	if err := c.failure(ctx, s, &res); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(res.Stdout)
	output := hex.EncodeToString(sum[:16])
	o, err := parseOutput(res.Stdout, q.limit, q.from.offset, output == q.from.output)
	switch {
	case errors.Is(err, errNotJSON):
		c.Log(mcp.Warning, logger, "Completion script "+s.label(c.Project)+": "+err.Error())
	case err != nil:
		c.Log(mcp.Err, logger, "Completion script "+s.label(c.Project)+": "+err.Error())
		return nil, mcp.Errorf(mcp.CodeInternal, "Completion provider emitted invalid JSON").Because(mcp.CauseTool)
	}
	r := &Result{values: o.values, total: o.total}
	next := &position{offset: o.next, own: o.cursor, pages: q.from.pages + 1, output: output}
	if o.more && next.pages < maxPages {
		if next.offset < 0 {
			next.offset = q.from.offset + len(o.values)
		}
		r.next = encodeCursor(q, s, next)
	}
	return r, nil
}

// check returns the command of a script that is allowed to run. It logs the reason of a refusal.
func (c *Completions) check(s *source) (script.Spec, error) {
	file := s.script(c.Project)
	var insecure *trust.InsecureError
	switch err := trust.CheckScript(c.Project.Root, s.dir, file.Path()); {
	case errors.As(err, &insecure):
		c.Log(mcp.Err, logger, "Completion script "+s.label(c.Project)+" refused: "+err.Error())
		refusal := mcp.Errorf(mcp.CodeInternal, "Completion script rejected by policy").Because(mcp.CauseInsecure)
		return script.Spec{}, refusal.WithReason(c.Project.Shown(err))
	case err != nil:
		return script.Spec{}, mcp.Errorf(mcp.CodeInternal, "Completion script not found")
	}
	argv, err := script.Command(file.Path())
	if err != nil {
		return script.Spec{}, mcp.Errorf(mcp.CodeInternal, "Completion script not executable")
	}
	calls := &c.Project.Calls
	return script.Spec{
		Script: file, Argv: argv, Dir: c.Project.Root, Timeout: settings.Seconds(s.timeout),
		StdoutLimit: calls.MaxStdout, StderrLimit: calls.MaxStderr,
	}, nil
}

// failure returns the error for a failed run, or nil.
func (c *Completions) failure(ctx context.Context, s *source, res *script.Result) error {
	calls := &c.Project.Calls
	reason := calls.StderrTo.Reason(strings.TrimRight(string(res.Stderr), "\r\n"))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(res.Cause, script.ErrTimedOut):
		e := mcp.Errorf(mcp.CodeInternal, "Completion provider timed out after %ds", s.timeout).Because(mcp.CauseTime)
		if reason != "" {
			return e.Explain(errors.New(reason))
		}
		return e
	case errors.Is(res.Cause, script.ErrStdoutLimit):
		return mcp.Errorf(mcp.CodeInternal, "Completion output exceeded %d bytes", calls.MaxStdout).
			Because(mcp.CauseOutput)
	case errors.Is(res.Cause, script.ErrStderrLimit):
		return mcp.Errorf(mcp.CodeInternal, "Completion stderr exceeded %d bytes", calls.MaxStderr).
			Because(mcp.CauseOutput)
	case res.Cause != nil:
		return res.Cause
	case res.Status != 0:
		return mcp.Errorf(mcp.CodeInternal, "%s", cmp.Or(reason, "Completion provider failed")).Because(mcp.CauseTool)
	}
	return nil
}

// preserve copies the output of a script to the state directory. It ignores errors, because the copies are only for
// debugging.
func (c *Completions) preserve(name string, res *script.Result) {
	const longest = 100
	if name = project.FileName(name); len(name) > longest {
		name = name[:longest]
	}
	dir, err := c.State.Root()
	if err != nil {
		return
	}
	name = handoff.Unique("completion." + name + ".")
	handoff.Create(dir, name+".stdout", res.Stdout)
	handoff.Create(dir, name+".stderr", res.Stderr)
}

// perRequest are variables of one request or of another kind of script. Inherited values would be
// wrong, so they are removed.
var perRequest = []string{
	"MCP_COMPLETION_NAME", "MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE", "MCP_COMPLETION_LIMIT",
	"MCP_COMPLETION_OFFSET", "MCP_COMPLETION_ARGS_HASH", "MCP_COMPLETION_CURSOR",
	"MCP_PROMPT_REL_PATH", "MCP_PROMPT_PATH", "MCP_PROMPT_METADATA", "MCP_PROMPT_METADATA_FILE",
	"MCP_RESOURCE_REL_PATH", "MCP_RESOURCE_PATH", "MCP_RESOURCE_URI", "MCP_RESOURCE_PROVIDER", "MCP_RESOURCE_METADATA",
	"MCP_RESOURCE_METADATA_FILE", "PWD", "MCP_CLIENT_ID", "MCP_CLIENT_ISSUER", "MCP_CLIENT_SUBJECT", "MCP_CLIENT_SCOPES",
}

// baseEnviron returns the variables that all requests share.
func baseEnviron(p *project.Project, common project.Env) []string {
	env := p.ProviderBase(common)
	for _, name := range perRequest {
		delete(env, name)
	}
	env["PWD"] = p.Root
	return slices.Clip(env.ScriptEntries())
}

// json returns the request in the form that scripts get.
func (q *query) json() json.RawMessage {
	if q.payload != nil {
		return q.payload
	}
	var b rawjson.Builder
	q.payload = b.Object().Name("query").String(q.value).Name("prefix").String(q.value).
		Name("argument").Object().Name("name").String(q.argument).Name("value").String(q.value).End().
		Name("context").Object().Name("arguments").Raw(rawjson.Normal(q.arguments)).End().
		Name("ref").Raw(rawjson.Normal(q.ref)).End().Bytes()
	return q.payload
}

// digest returns the SHA-256 of json with sorted keys.
func (q *query) digest() string {
	if q.hash == "" {
		sum := sha256.Sum256(rawjson.AppendCanonical(nil, q.json()))
		q.hash = hex.EncodeToString(sum[:])
	}
	return q.hash
}

// environ returns the environment of one run.
func (c *Completions) environ(q *query, s *source, files *handoff.Dir) ([]string, error) {
	env := c.base()
	set := func(name, value string) { env = append(env, name+"="+value) }
	// put adds a document. If it is too long, it goes to a file, whose path is in another variable.
	put := func(variable, file string, doc json.RawMessage) error {
		if len(doc) <= project.MaxInline {
			set(variable, string(doc))
			return nil
		}
		set(variable, "")
		set(file, files.Path(file))
		return files.Create(file, doc)
	}
	c.Caller.EachVariable(set)
	set("MCP_COMPLETION_NAME", q.name)
	set("MCP_COMPLETION_LIMIT", strconv.Itoa(q.limit))
	set("MCP_COMPLETION_OFFSET", strconv.Itoa(q.from.offset))
	set("MCP_COMPLETION_ARGS_HASH", q.digest())
	if q.from.own != "" {
		set("MCP_COMPLETION_CURSOR", q.from.own)
	}
	env = project.SetTemp(env, files.TempPath())
	if err := put("MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE", q.json()); err != nil {
		return nil, err
	}
	prefix := ""
	switch s.kind {
	case prompt:
		prefix = "MCP_PROMPT_"
	case resource:
		prefix = "MCP_RESOURCE_"
		uri, provider := item.URI(c.Project, s.item), rawjson.TextOf(s.item, "provider")
		if q.template != nil {
			uri = rawjson.TextOf(s.item, kinds.URITemplate)
			provider = item.ProviderOf(uri)
		}
		set("MCP_RESOURCE_URI", uri)
		set("MCP_RESOURCE_PROVIDER", provider)
	default:
		return env, nil
	}
	if q.template == nil {
		rel := rawjson.TextOf(s.item, "path")
		set(prefix+"REL_PATH", rel)
		set(prefix+"PATH", filepath.Join(s.dir, filepath.FromSlash(rel)))
	}
	err := put(prefix+"METADATA", prefix+"METADATA_FILE", s.item)
	return env, err
}

// An output is the parsed output of a script.
type output struct {
	values []json.RawMessage // strings, as written; at most the limit
	total  int               // -1 if unknown
	more   bool
	next   int    // offset of the next page; -1 if unknown
	cursor string // cursor of the script for the next page
}

// errNotJSON begins the error for output that is not JSON. Such output means no suggestions.
var errNotJSON = errors.New("the output is not JSON")

func notJSON(output []byte) error {
	const longest = 60 // characters
	text := []rune(strings.TrimSpace(strings.ToValidUTF8(string(output[:min(len(output), 4*longest)]), "\uFFFD")))
	if len(text) > longest {
		text = append(text[:longest], '…')
	}
	return fmt.Errorf("%w, so nothing is suggested; it begins with %q; "+
		`print an array such as ["a","b"]`, errNotJSON, string(text))
}

// parseOutput returns the values of a page. repeated reports that the page before had the same output. Then the script
// ignores the offset, and its output has the values of all pages.
func parseOutput(stdout []byte, limit, offset int, repeated bool) (output, error) {
	o := output{total: -1, next: -1}
	if len(rawjson.SkipSpace(stdout)) == 0 {
		return o, nil
	}
	doc, err := rawjson.Check(stdout)
	if err != nil {
		return o, notJSON(stdout)
	}
	list := doc
	switch rawjson.KindOf(doc) {
	case rawjson.Array:
	case rawjson.Object:
		if list = rawjson.Get(doc, "suggestions"); !rawjson.Absent(list) && rawjson.KindOf(list) != rawjson.Array {
			return o, errors.New("suggestions must be an array")
		}
		if err := o.setExtras(doc); err != nil {
			return o, err
		}
	default:
		return o, errors.New("the output is neither an array nor an object")
	}
	n, first := 0, 0
	if repeated {
		first = offset
		o.more, o.next, o.cursor = false, -1, ""
	}
	for e := range rawjson.Elements(list) {
		if rawjson.KindOf(e) != rawjson.String {
			return o, errors.New("a suggestion is not a string")
		}
		if n++; n > first && n-first <= limit {
			o.values = append(o.values, e)
		}
	}
	if rawjson.KindOf(doc) == rawjson.Array && (offset == 0 || repeated) {
		o.total = n
	}
	if n-first > limit { // T-631: the values beyond the limit come first on the next page
		o.more, o.next = true, -1
	}
	return o, nil
}

func (o *output) setExtras(doc json.RawMessage) error {
	o.more = rawjson.True(rawjson.Get(doc, "hasMore"))
	if n, ok := offsetOf(rawjson.Get(doc, "next")); ok {
		o.next = n
	}
	if n, ok := offsetOf(rawjson.Get(doc, "total")); ok {
		o.total = n
	}
	if o.cursor = rawjson.TextOf(doc, "nextCursor"); o.cursor == "" {
		o.cursor = rawjson.TextOf(doc, "cursor")
	}
	if !isOwnCursor(o.cursor) {
		return errors.New("the cursor is too long or contains NUL")
	}
	o.more = o.more || o.cursor != ""
	return nil
}

// offsetOf reads a number, or a string of digits.
func offsetOf(v json.RawMessage) (int, bool) {
	text := string(v)
	if s, ok := rawjson.Text(v); ok {
		text = s
	}
	n, ok := settings.Digits(text)
	return min(n, maxOffset), ok
}

// A Result has the suggested values.
type Result struct {
	values []json.RawMessage // strings
	total  int               // -1 if unknown
	next   string            // cursor of the next page, or ""
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (r *Result) Size() int {
	n := 128 + len(r.next)
	for _, v := range r.values {
		n += len(v) + 1
	}
	return n
}

// AppendJSON appends the result and the members of the protocol revision.
func (r *Result) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Name("completion").Object().Name("values").Array()
	for _, v := range r.values {
		b.Raw(v)
	}
	b.End()
	if r.total >= 0 {
		b.Name("total").Int(r.total)
	}
	b.Name("hasMore").Bool(r.next != "")
	b.Optional("nextCursor", r.next)
	extra.AppendOwnMeta(b.End())
	return b.End().Bytes()
}
