package tool

import (
	"bytes"
	"encoding/json"
	"time"

	"mcp-bash/pkg/json/rawjson"
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

// validates reports whether arguments and output are validated. The environment decides first, then
// the tool, then the project (T-11).
func (e *entry) validates(setting string, project bool) bool {
	switch {
	case setting != "":
		return setting == "true"
	case rawjson.KindOf(e.validate) == rawjson.Bool:
		return rawjson.True(e.validate)
	}
	return project
}

// missing returns the error for a tool that requires capabilities which the client has not
// declared, or nil. The data of the error lists the capabilities (M-41).
func (e *entry) missing(client *mcp.Capabilities) error {
	var lacks struct{ form, url, sampling, roots, tasks bool }
	for r := range rawjson.Elements(e.requires) {
		name, _ := rawjson.Text(r)
		switch name {
		case "elicitation":
			lacks.form = lacks.form || !client.ElicitForm
		case "elicitation.url":
			lacks.url = lacks.url || !client.ElicitURL
		case "sampling":
			lacks.sampling = !client.Sampling
		case "roots":
			lacks.roots = !client.Roots
		case "tasks":
			lacks.tasks = !client.Tasks
		}
	}
	if !lacks.form && !lacks.url && !lacks.sampling && !lacks.roots && !lacks.tasks {
		return nil
	}
	var b rawjson.Builder
	b.Object().Name("requiredCapabilities").Object()
	if lacks.form || lacks.url {
		b.Name("elicitation").Object()
		if lacks.form {
			b.Name("form").Object().End()
		}
		if lacks.url {
			b.Name("url").Object().End()
		}
		b.End()
	}
	if lacks.sampling {
		b.Name("sampling").Object().End()
	}
	if lacks.roots {
		b.Name("roots").Object().End()
	}
	if lacks.tasks {
		b.Name("extensions").Object().Name(mcp.TasksExtension).Object().End().End()
	}
	refusal := mcp.Errorf(mcp.CodeMissingCapability, "Tool '%s' requires a capability that the client does not declare",
		e.name)
	refusal.Own = true
	refusal.Data = b.End().End().Bytes()
	return refusal
}

// LongRunning describes the calls of a long-running tool (TASK-1).
type LongRunning struct {
	// After is the time after which a call returns a handle to a client without tasks. 0: the default.
	After time.Duration
	// AsksFirst means that questions before the first report of progress are asked before the call becomes
	// a task (TASK-11).
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

// AppendListed appends a registry entry in the form of tools/list. anySchema permits an
// outputSchema for other values than objects, as in the newest revision.
func AppendListed(dst []byte, item json.RawMessage, anySchema bool) []byte {
	b := rawjson.Over(dst)
	b.Object()
	var meta json.RawMessage
	own := toolMeta{}
	_, long := ParseLongRunning(item)
	for _, m := range rawjson.Members(item) {
		switch m.Name {
		case "requires", "validateInput", "securityLevel", "confine", "output", "largeResultBytes", "longRunning",
			"keepColors", "trial", access.Unreadable:
		case "name":
			own.name = m.Value
			b.Name("name").Raw(m.Value)
		case "id":
			own.id = m.Value
		case "version":
			own.version = m.Value
		case "capabilities":
			own.capabilities = m.Value
		case "_meta":
			meta = m.Value
		case "timeoutSecs":
			if !rawjson.Absent(m.Value) {
				b.Name(m.Name).Raw(m.Value)
			}
		case "outputSchema":
			if long { // a handle does not match it (TASK-3)
				continue
			}
			if anySchema || rawjson.TextOf(m.Value, "type") == "object" {
				b.Name(m.Name).Raw(m.Value)
			}
		default:
			b.Name(m.Name).Raw(m.Value)
		}
	}
	if meta != nil || own.declared() {
		b.Name("_meta").Object().Members(meta)
		own.append(b)
		b.End()
	}
	return b.End().Bytes()
}

// toolMeta has the declarations of a tool for programs that choose among tools.
type toolMeta struct{ name, id, version, capabilities json.RawMessage }

func (t *toolMeta) declared() bool {
	return t.id != nil || t.version != nil || t.capabilities != nil
}

func (t *toolMeta) append(b *rawjson.Builder) {
	if !t.declared() {
		return
	}
	id := t.id
	if id == nil {
		id = t.name
	}
	b.Name("mcpbash/tool").Object().Name("id").Raw(id)
	b.OptionalRaw("version", t.version)
	b.OptionalRaw("capabilities", t.capabilities)
	b.End()
}
