package registry

import (
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
	Key:      "tools",
	File:     "tools.json",
	Logger:   "mcp.tools",
	Noun:     "tool",
	Name:     "Tool registry",
	code:     mcp.CodeInternal,
	message:  "Unable to load tool registry",
	faults:   mcp.Warning,
	crowd:    "Tools",
	ttl:      func(d *project.Discovery) time.Duration { return d.ToolsTTL },
	trees:    []tree{{noun: "Tool", dir: toolsDir, passes: isToolUI, examine: findTools}},
	required: []string{"name", "path"},
	guarded:  true,
	entry:    makeTool,
	combine: func(a *assembly) []found {
		a.strays()
		return a.standard()
	},
}

func toolsDir(p *project.Project) string { return p.Tools }

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
		findStrays(l)
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
		if meta := l.metadata(file); meta != nil {
			c.sources = append(c.sources, meta.source)
		}
		if header != nil {
			c.sources = append(c.sources, newSource(writing{file: l.shown(file), text: head}, header))
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
	"execution", // says that a tool runs as a task, which none of ours does
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
		s.say(mcp.Warning, fmt.Sprintf("Tool name '%s' (%s) is refused by some clients: use only letters, digits, _, - and ., at most %d", f.Name, s.shown, maxPlainName))
	}
	s.checkKeys(toolFields)
	w := s.write(f.Name)
	w.copy("title", rawjson.String)
	w.description()
	w.put("path", rawjson.Quote(s.path))
	w.put("inputSchema", s.inputSchema())
	w.value("timeoutSecs", s.seconds("timeoutSecs"))
	w.text("timeoutHint")
	w.whenTrue("progressExtendsTimeout")
	w.put("maxTimeoutSecs", s.seconds("maxTimeoutSecs"))
	w.put("outputSchema", s.outputSchema())
	w.put("icons", s.icons())
	w.copy("validateInput", rawjson.Bool)
	annotations := s.toolAnnotations()
	w.put("annotations", annotations)
	w.put("requires", s.pick("requires", "an array of strings", rawjson.IsStrings))
	f.id = f.Name
	if id, given := s.id(); given {
		f.id = id
		w.put("id", rawjson.Quote(id))
	}
	w.put("version", s.version())
	capabilities := s.capabilities()
	s.checkAnnotations(capabilities, annotations)
	w.put("capabilities", capabilities)
	w.put("securityLevel", s.securityLevel())
	w.put("_meta", toolMeta(s))
	f.JSON = w.end(toolFields)
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
