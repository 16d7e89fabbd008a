package tool

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"time"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/wire/tracecontext"
)

// perCall are the variables of one call. Inherited values would belong to another call, so they are removed.
var perCall = []string{
	"MCP_TOOL_NAME", "MCP_TOOL_PATH", "MCP_TOOL_ARGS_JSON", "MCP_TOOL_ARGS_FILE", "MCP_TOOL_METADATA_JSON",
	"MCP_TOOL_METADATA_FILE", "MCP_TOOL_META_JSON", "MCP_TOOL_META_FILE", "MCP_TOOL_ERROR_FILE",
	"MCP_TOOL_RESOURCES_FILE", "MCP_PROGRESS_STREAM", "MCP_LOG_STREAM", "MCP_PROGRESS_TOKEN",
	"MCPBASH_PROGRESS_TOKEN_JSON", "MCP_CANCEL_FILE", "MCP_ELICIT_SUPPORTED", "MCP_ELICIT_REQUEST_FILE",
	"MCP_ELICIT_RESPONSE_FILE", "MCP_INPUT_DIR", "MCP_SAMPLING_SUPPORTED", "MCP_ROOTS_SUPPORTED",
	"MCP_ROOTS_JSON", "MCP_ROOTS_PATHS", "MCP_ROOTS_COUNT", "MCP_ROOTS_GIVEN", "MCP_CONFINED", "MCPBASH_DEBUG_LOG",
	"MCPBASH_WORKER_KEY", "MCPBASH_CLIENT_SUPPORTS_UI", "MCPBASH_ARGS_FLAT", "MCPBASH_META_FLAT", "TRACEPARENT",
	"TRACESTATE", "BAGGAGE", "MCPBASH_TRACE_FILE", "BASH_XTRACEFD", "MCP_TOOL_CANCELLATION_FILE", "MCPBASH_DIRECT_FD",
	"PWD", "MCP_CLIENT_ID", "MCP_CLIENT_ISSUER", "MCP_CLIENT_SUBJECT", "MCP_CLIENT_SCOPES", "MCP_REQUEST_ID",
}

// baseEnviron returns the variables that all calls share: inherited variables, and then those of every script.
func baseEnviron(p *project.Project, rule *scriptenv.Rule, common project.Env, stateDir string) []string {
	env := p.ToolBase(rule)
	for name, value := range common {
		env[name] = value
	}
	env["MCPBASH_STATE_DIR"] = stateDir
	for _, name := range perCall {
		if name != "MCPBASH_DEBUG_LOG" || p.Calls.DebugLog == "" {
			delete(env, name)
		}
	}
	env["PWD"] = p.Root
	return env.ScriptEntries()
}

// environ returns the environment of one call (tools section 5).
func (c *call) environ() ([]string, error) {
	t, r := c.tools, c.request
	client := &r.Client
	base := t.base
	if c.inherits != &t.project.Scripts.Tools { // T-61a
		base = baseEnviron(t.project, c.inherits, t.Common, t.State.Dir)
	}
	env := make([]string, len(base), len(base)+48)
	copy(env, base)
	set := func(name, value string) { env = append(env, name+"="+value) }

	set("MCP_TOOL_NAME", c.entry.name)
	set("MCP_TOOL_PATH", c.script)
	for _, p := range []struct {
		variable, file string
		value          json.RawMessage
		flat           string
	}{
		{"MCP_TOOL_ARGS", "arguments.json", r.Arguments, "MCPBASH_ARGS_FLAT"},
		{"MCP_TOOL_METADATA", "metadata.json", c.entry.item, ""},
		{"MCP_TOOL_META", "meta.json", r.Meta, "MCPBASH_META_FLAT"},
	} {
		if len(p.value) > t.project.Calls.PayloadInline { // T-77
			if err := c.files.Create(p.file, p.value); err != nil {
				return nil, err
			}
			set(p.variable+"_JSON", "")
			set(p.variable+"_FILE", c.files.Path(p.file))
			continue
		}
		set(p.variable+"_JSON", string(p.value))
		if p.flat != "" {
			if table, ok := jqtext.Flat(p.value); ok {
				set(p.flat, table)
			}
		}
	}
	set("MCP_TOOL_ERROR_FILE", c.files.ErrorsPath())
	set("MCP_TOOL_RESOURCES_FILE", c.files.ResourcesPath())
	set("MCP_PROGRESS_STREAM", c.files.ProgressPath())
	set("MCP_LOG_STREAM", c.files.LogsPath())
	for name, value := range c.identity() {
		set(name, value)
	}
	if r.Event != nil {
		set("MCP_REQUEST_ID", r.Event.ID)
	}
	set("MCP_CANCEL_FILE", c.files.Path(cancelMark))
	set("MCP_INPUT_DIR", c.files.InputPath())
	elicits := r.Asker != nil && client.Elicitation()
	set("MCP_ELICIT_SUPPORTED", bit(elicits))
	if elicits {
		set("MCP_ELICIT_REQUEST_FILE", c.files.Path(elicitAsk))
		set("MCP_ELICIT_RESPONSE_FILE", c.files.Path(elicitAnswer))
	}
	set("MCP_SAMPLING_SUPPORTED", bit(r.Asker != nil && client.Sampling))
	set("MCP_ROOTS_SUPPORTED", bit(r.Asker != nil && client.Roots))
	set("MCP_ROOTS_JSON", r.Roots.JSON())
	set("MCP_ROOTS_PATHS", r.Roots.Paths())
	set("MCP_ROOTS_GIVEN", bit(r.Roots.Given))
	set("MCP_CONFINED", bit(c.confinement != nil))
	set("MCP_ROOTS_COUNT", strconv.Itoa(len(r.Roots.List)))
	set("MCPBASH_CLIENT_SUPPORTS_UI", bit(client.UI))
	if t.project.Calls.DebugLog == "" {
		set("MCPBASH_DEBUG_LOG", c.debugLog())
	}
	if r.Asker != nil {
		env = c.extendInputTimeout(env, r.Asker.Patience())
	}
	if c.entry.progressExtends {
		env = project.Override(env, "MCPBASH_PROGRESS_EXTENDS_TIMEOUT", "true")
	}
	if c.entry.maxTimeout > 0 {
		env = project.Override(env, "MCPBASH_MAX_TIMEOUT_SECS", strconv.Itoa(c.entry.maxTimeout))
	}
	if c.entry.timeoutHint != "" {
		env = project.Override(env, "MCPBASH_TIMEOUT_HINT", c.entry.timeoutHint)
	}
	env = project.SetTemp(env, c.files.TempPath())
	return c.traceContext().AppendEnviron(env), nil
}

// traceContext returns the trace context of the script. If the call is recorded, the script has its own span.
func (c *call) traceContext() tracecontext.Context {
	r := c.request
	context := tracecontext.OfMeta(r.Meta).Or(r.Trace)
	if r.Event == nil || r.Event.Trace.ID == "" {
		return context
	}
	w := &r.Event.Draft
	w.Trace, w.Span = r.Event.Trace.ID, tracecontext.NewSpan()
	return context.Child(w.Trace, w.Span)
}

// extendInputTimeout lets the script wait for answers at least as long as people may need.
func (c *call) extendInputTimeout(env []string, patience time.Duration) []string {
	const name = "MCPBASH_ELICITATION_TIMEOUT"
	own, err := strconv.ParseFloat(c.tools.project.Env[name], 64)
	if patience == 0 || err == nil && own >= patience.Seconds() {
		return env
	}
	return project.Override(env, name, strconv.Itoa(int(patience.Seconds())))
}

// identity returns the variables that identify the request and its caller. policy.sh gets them too.
func (c *call) identity() project.Env {
	env := project.Env{
		"MCPBASH_WORKER_KEY":          c.key,
		"MCP_PROGRESS_TOKEN":          tokenText(c.request.ProgressToken),
		"MCPBASH_PROGRESS_TOKEN_JSON": string(c.request.ProgressToken),
	}
	c.tools.Caller.EachVariable(func(name, value string) { env[name] = value })
	return env
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func tokenText(token json.RawMessage) string {
	if s, ok := rawjson.Text(token); ok {
		return s
	}
	return string(token)
}

// debugLog returns the file of mcp_debug, which belongs to this call and is created by the script.
func (c *call) debugLog() string {
	name := "tool-debug." + project.FileName(c.entry.name) + "." + c.key + "." + c.tools.unique() + ".log"
	switch dir := c.tools.project.Logging.Dir; {
	case c.confinement != nil: // a confined script cannot write to other directories
	case dir != "":
		return filepath.Join(dir, name)
	case c.tools.project.Preserve:
		return filepath.Join(c.tools.State.Dir, name)
	}
	return c.files.Path(name)
}
