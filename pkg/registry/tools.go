package registry

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/script"
)

// Tools are the scripts a client may call (registry section 4).
var Tools = &Kind{
	Key:     "tools",
	File:    "tools.json",
	Logger:  "mcp.tools",
	Noun:    "Tool",
	Name:    "Tool registry",
	code:    mcp.CodeInternal,
	message: "Unable to load tool registry",
	faults:  mcp.Warning,
	crowd:   "Tools",
	dir:     func(p *project.Project) string { return p.Tools },
	ttl:     func(d *project.Discovery) time.Duration { return d.ToolsTTL },
	passes:  isToolUI,
	examine: findTools,
	entry:   makeTool,
}

const (
	toolStem  = "tool"     // a file of this stem is the tool of its directory
	smokeTest = "smoke.sh" // lies beside a tool and is none
)

// isToolUI: tools/<dir>/ui/ holds web pages, not tools.
func isToolUI(dir string) bool {
	parent, name := path.Split(dir)
	return name == uiDir && strings.Count(parent, "/") == 1
}

// A candidate is a file that can be run, with what is said about it.
type candidate struct {
	file    string
	sources []source // none: a bare one
}

// findTools is R-41: every candidate that somebody described is a tool; of the
// bare ones, those that are meant to be by their name, or else by being alone.
func findTools(l *look) {
	if l.depth == 0 {
		return
	}
	var list []candidate
	described, named := false, false
	for file := range l.files {
		if file == smokeTest {
			continue
		}
		head, mode, header, err := l.intro(file)
		if err != nil && vanished(err) || !script.Runnable(file, mode, head) {
			continue
		}
		c := candidate{file: file}
		if meta, ok := l.metadata(file); ok {
			c.sources = append(c.sources, meta)
		}
		if header != nil {
			c.sources = append(c.sources, newSource(l.shown(file), header))
		}
		described = described || len(c.sources) > 0
		named = named || stem(file) == toolStem
		list = append(list, c)
	}
	for _, c := range list {
		bare := len(c.sources) == 0
		if bare && (l.depth > 1 || stem(c.file) != toolStem && (described || named)) {
			continue
		}
		if f, ok := makeTool(l.subject(c.file, c.sources)); ok {
			l.add(f)
		}
	}
}

// toolFields are the fields of a tool that are known, stored or not.
var toolFields = []string{
	"name", "title", "description", "path", "inputSchema", "timeoutSecs", "timeoutHint", "progressExtendsTimeout",
	"maxTimeoutSecs", "outputSchema", "icons", "validateInput", "annotations", "requires", "id", "version",
	"capabilities", "securityLevel", "_meta", "arguments", "parameters",
}

// makeTool makes the item, its keys in the order of the table in section 4.
func makeTool(s *subject) (found, bool) {
	f := found{path: s.path}
	var given bool
	if f.Name, given = s.text("name"); !given {
		f.Name = defaultToolName(s.path)
	}
	if !s.checkName(f.Name) {
		return found{}, false
	}
	if !isPlainName(f.Name) {
		s.say(mcp.Warning, fmt.Sprintf("Tool name '%s' (%s) is refused by some clients: use only letters, digits, _ and -, at most %d", f.Name, s.shown, maxPlainName))
	}
	b := rawjson.Over(s.work)
	put := func(name string, value json.RawMessage) {
		if value != nil {
			b.Name(name).Raw(rawjson.Normal(value))
		}
	}
	b.Object().Name("name").String(f.Name)
	put("title", s.ofKind("title", rawjson.String))
	if description := s.ofKind("description", rawjson.String); description != nil {
		put("description", description)
	} else {
		b.Name("description").String("")
	}
	b.Name("path").String(s.path)
	put("inputSchema", inputSchema(&s.fields))
	b.Name("timeoutSecs").Raw(s.seconds("timeoutSecs"))
	if hint := s.ofKind("timeoutHint", rawjson.String); !isEmptyText(hint) {
		put("timeoutHint", hint)
	}
	if rawjson.True(s.ofKind("progressExtendsTimeout", rawjson.Bool)) {
		b.Name("progressExtendsTimeout").Bool(true)
	}
	put("maxTimeoutSecs", s.seconds("maxTimeoutSecs"))
	put("outputSchema", s.ofKind("outputSchema", rawjson.Object))
	put("icons", s.icons())
	put("validateInput", s.ofKind("validateInput", rawjson.Bool))
	annotations := s.ofKind("annotations", rawjson.Object)
	put("annotations", annotations)
	put("requires", s.pick("requires", "an array of strings", isStrings))
	f.id = f.Name
	if id := s.pick("id", idForm, isID); id != nil {
		f.id, _ = rawjson.Text(id)
		b.Name("id").String(f.id)
	}
	put("version", s.pick("version", "a semantic version", isVersion))
	capabilities := s.capabilities()
	s.checkAnnotations(capabilities, annotations)
	put("capabilities", capabilities)
	put("securityLevel", s.securityLevel())
	put("_meta", s.toolMeta())
	if s.extras {
		s.putExtras(b, toolFields)
	}
	f.JSON = b.End().Bytes()
	return f, true
}

// defaultToolName: a file called tool has its directory's name.
func defaultToolName(file string) string {
	dir, base := path.Split(file)
	if base = stem(base); base == toolStem && dir != "" {
		return path.Base(dir)
	}
	return base
}
