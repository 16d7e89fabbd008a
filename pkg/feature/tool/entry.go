package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/wire/mcp"
)

type entry struct {
	item            json.RawMessage // the complete entry
	name, path      string
	timeout         int // seconds, or 0
	maxTimeout      int
	timeoutHint     string
	progressExtends bool
	inputSchema     json.RawMessage
	outputSchema    json.RawMessage // nil when absent or null
	validate        json.RawMessage // true, false or nil
	requires        json.RawMessage // an array, or nil
	large           json.RawMessage // largeResultBytes, or nil
	output          json.RawMessage // the output of the program that the tool runs, or nil

	longRunning bool
	keepColors  bool
}

func parseEntry(item json.RawMessage) entry {
	e := entry{item: item}
	rawjson.Each(item, func(name, value json.RawMessage) {
		switch string(name) {
		case `"name"`:
			e.name, _ = rawjson.Text(value)
		case `"path"`:
			e.path, _ = rawjson.Text(value)
		case `"timeoutSecs"`:
			e.timeout = rawjson.PositiveInt(value)
		case `"maxTimeoutSecs"`:
			e.maxTimeout = rawjson.PositiveInt(value)
		case `"timeoutHint"`:
			e.timeoutHint, _ = rawjson.Text(value)
		case `"progressExtendsTimeout"`:
			e.progressExtends = rawjson.True(value)
		case `"inputSchema"`:
			e.inputSchema = value
		case `"outputSchema"`:
			if !rawjson.Absent(value) {
				e.outputSchema = value
			}
		case `"longRunning"`:
			e.longRunning = true
		case `"keepColors"`:
			e.keepColors = rawjson.True(value)
		case `"requires"`:
			e.requires = value
		case `"validateInput"`:
			e.validate = value
		case `"largeResultBytes"`:
			e.large = value
		case `"output"`:
			e.output = value
		}
	})
	return e
}

// validates reports whether arguments and output are validated. The environment decides first, then the tool, then the
// project.
func (e *entry) validates(setting string, project bool) bool {
	switch {
	case setting != "":
		return setting == "true"
	case rawjson.KindOf(e.validate) == rawjson.Bool:
		return rawjson.True(e.validate)
	}
	return project
}

// missing returns the error for a tool that requires capabilities which the client has not declared, or nil. The data
// of the error lists the capabilities.
func (e *entry) missing(client *mcp.Capabilities) error {
	lacks := map[string]map[string]struct{}{}
	require := func(given bool, capability string, parts ...string) {
		if given {
			return
		}
		if lacks[capability] == nil {
			lacks[capability] = map[string]struct{}{}
		}
		for _, part := range parts {
			lacks[capability][part] = struct{}{}
		}
	}
	for r := range rawjson.Elements(e.requires) {
		name, _ := rawjson.Text(r)
		switch name {
		case "elicitation":
			require(client.ElicitForm, "elicitation", "form")
		case "elicitation.url":
			require(client.ElicitURL, "elicitation", "url")
		case "sampling":
			require(client.Sampling, "sampling")
		case "roots":
			require(client.Roots, "roots")
		case "tasks":
			require(client.Tasks, "extensions", mcp.TasksExtension)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	refusal := mcp.Errorf(mcp.CodeMissingCapability, "Tool '%s' requires a capability that the client does not declare",
		e.name)
	refusal.Own = true
	refusal.Data, _ = json.Marshal(map[string]any{"requiredCapabilities": lacks})
	return refusal
}

// LongRunning describes the calls of a long-running tool.
type LongRunning struct {
	// After is the time after which a call returns a handle to a client without tasks. 0: the default.
	After time.Duration
	// AsksFirst means that questions before the first report of progress are asked before the call becomes a task.
	AsksFirst bool
}

// ParseLongRunning returns the declaration of a registry entry, and reports whether the tool is
// long-running.
func ParseLongRunning(item json.RawMessage) (l LongRunning, ok bool) {
	if !bytes.Contains(item, []byte(`"longRunning"`)) {
		return l, false
	}
	v := rawjson.Get(item, "longRunning")
	if rawjson.KindOf(v) == rawjson.Object {
		l.After = settings.Seconds(rawjson.PositiveInt(rawjson.Get(v, "after")))
		l.AsksFirst = rawjson.True(rawjson.Get(v, "asksFirst"))
		return l, true
	}
	return l, rawjson.True(v)
}

// AppendListed appends a registry entry in the form of tools/list. anySchema permits an outputSchema for other values
// than objects, as in the newest revision.
func AppendListed(dst []byte, item json.RawMessage, anySchema bool) []byte {
	b := rawjson.Over(dst)
	b.Object()
	_, long := ParseLongRunning(item)
	for _, m := range rawjson.Members(item) {
		switch m.Name {
		case "requires", "validateInput", "securityLevel", "confine", "output", "largeResultBytes", "longRunning",
			"keepColors", "trial", access.Unreadable, "id", "version", "capabilities", "_meta":
		case "timeoutSecs":
			if !rawjson.Absent(m.Value) {
				b.Name(m.Name).Raw(m.Value)
			}
		case "outputSchema":
			if long { // a handle does not match the schema
				continue
			}
			if anySchema || rawjson.TextOf(m.Value, "type") == "object" {
				b.Name(m.Name).Raw(m.Value)
			}
		default:
			b.Name(m.Name).Raw(m.Value)
		}
	}
	// The last member of _meta has the declarations for programs that choose among tools.
	meta, id := rawjson.Get(item, "_meta"), rawjson.Get(item, "id")
	version, capabilities := rawjson.Get(item, "version"), rawjson.Get(item, "capabilities")
	isDeclared := id != nil || version != nil || capabilities != nil
	if meta != nil || isDeclared {
		b.Name("_meta").Object().Members(meta)
		if isDeclared {
			if id == nil {
				id = rawjson.Get(item, "name")
			}
			b.Name("mcpbash/tool").Object().Name("id").Raw(id)
			b.OptionalRaw("version", version)
			b.OptionalRaw("capabilities", capabilities)
			b.End()
		}
		b.End()
	}
	return b.End().Bytes()
}

// A clock decides when a script has used its time. It is stopped while a question to the client is open.
type clock struct {
	limit    time.Duration // 0: none
	secs     int           // limit in seconds, for messages
	progress bool          // limit counts from the last progress report
	max      time.Duration // limit for the whole run if progress is set
	maxSecs  int
	option   string // the setting that has the limit; "" if the tool or the caller chose it

	ran    time.Duration // time counted so far
	idle   time.Duration // time counted since the last progress report
	start  time.Time     // of the script
	last   time.Time     // time of the last tick
	silent bool          // no progress was reported
}

func newClock(calls *project.Calls, e *entry, override int, start time.Time) *clock {
	c := &clock{start: start, last: start, silent: true}
	c.secs = effectiveTimeout(calls, e, override)
	if override <= 0 && e.timeout <= 0 && c.secs > 0 {
		if c.option = "MCPBASH_DEFAULT_TOOL_TIMEOUT"; e.longRunning {
			c.option = "MCPBASH_TASK_TIMEOUT"
		}
	}
	c.limit = settings.Seconds(c.secs)
	c.progress = e.progressExtends || calls.ProgressExtends
	c.maxSecs = calls.MaxTimeout
	if e.maxTimeout > 0 {
		c.maxSecs = e.maxTimeout
	}
	c.max = settings.Seconds(c.maxSecs)
	return c
}

// effectiveTimeout returns the time limit of a call in seconds, or 0: of the request, the tool or the settings, in this
// order.
func effectiveTimeout(calls *project.Calls, e *entry, override int) int {
	switch {
	case override > 0:
		return override
	case e.timeout > 0:
		return e.timeout
	case e.longRunning:
		return calls.LongTimeout
	}
	return calls.Timeout
}

// EffectiveTimeout returns the time limit of a call in seconds, or 0 for no limit. item is the tool's registry entry.
// override is the limit of the request, or 0.
func EffectiveTimeout(calls *project.Calls, item json.RawMessage, override int) int {
	e := parseEntry(item)
	return effectiveTimeout(calls, &e, override)
}

// tick advances the clock. active means that the script reported progress since the last tick.
// paused means that this time does not count.
func (c *clock) tick(now time.Time, active, paused bool) error {
	passed := now.Sub(c.last)
	c.last = now
	if active {
		c.idle, c.silent = 0, false
	} else if !paused {
		c.idle += passed
	}
	if !paused {
		c.ran += passed
	}
	switch {
	case c.limit <= 0:
		return nil
	case !c.progress && c.ran >= c.limit:
		return &timeoutError{c, "fixed", fmt.Sprintf("Tool timed out after %ds", c.secs)}
	case c.progress && c.idle >= c.limit:
		return &timeoutError{c, "idle", fmt.Sprintf("Tool timed out after %ds (no progress reported)", c.secs)}
	case c.progress && c.ran >= c.max:
		return &timeoutError{c, "max_exceeded", fmt.Sprintf("Tool exceeded maximum runtime of %ds", c.maxSecs)}
	}
	return nil
}

type timeoutError struct {
	clock   *clock
	reason  string
	message string
}

func (e *timeoutError) Error() string { return e.message }
