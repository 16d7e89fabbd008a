package kinds

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// Tools are scripts that a client may call (registry section 4).
var Tools = &Kind{
	Key:        "tools",
	File:       "tools.json",
	Logger:     "mcp.tools",
	Noun:       "tool",
	Name:       "Tool registry",
	message:    "Unable to load tool registry",
	FaultLevel: mcp.Warning,
	Plural:     "Tools",
	TTL:        func(d *project.Discovery) time.Duration { return d.ToolsTTL },
	Trees:      []scan.Tree{{Noun: "Tool", Dir: toolsDir, Skip: isToolUI, Examine: visitTools}},
	required:   []string{"name", "path"},
	guarded:    true,
	Build:      BuildTool,
	combine: func(a *Assembly) []item.Candidate {
		a.dropMisplaced()
		return a.standard()
	},
}

func toolsDir(p *project.Project) string { return p.Tools }

const (
	toolStem  = "tool"     // the file with this stem is the tool of its directory
	smokeTest = "smoke.sh" // a test of the tool in the same directory
)

// isToolUI reports whether a directory is tools/<dir>/ui/, which contains web pages and no tools.
func isToolUI(dir string) bool {
	parent, name := path.Split(dir)
	return name == uiDir && strings.Count(parent, "/") == 1
}

type runnable struct {
	file       string
	sources    []item.Source // empty: the file has no metadata
	unreadable []item.Fault  // why some of the metadata cannot be read
}

// visitTools finds the tools of a directory: every executable file with metadata or a header. At the first level, a
// file without either is a tool too, if its stem is "tool" or the directory has no other tool.
func visitTools(v *scan.Visit) {
	if v.Depth == 0 {
		findMisplaced(v)
		return
	}
	var list []runnable
	described, named := false, false
	for file := range v.Files {
		if file == smokeTest {
			continue
		}
		head, err := v.Head(file)
		if err != nil && folder.Vanished(err) || !script.Runnable(file, head.Mode, head.Text) {
			continue
		}
		c := runnable{file: file}
		if meta := v.MetadataOf(file); meta != nil {
			c.sources = append(c.sources, meta.Source)
		}
		c.unreadable = v.Unreadable(file)
		if head.Header != nil {
			c.sources = append(c.sources, item.NewSource(item.Location{File: v.Label(file), Text: head.Text}, head.Header))
		} else if head.Fault != (item.Fault{}) {
			c.unreadable = append(c.unreadable, head.Fault)
		}
		described = described || len(c.sources) > 0
		named = named || item.Stem(file) == toolStem
		list = append(list, c)
	}
	for _, c := range list {
		bare := len(c.sources) == 0
		if bare && (v.Depth > 1 || item.Stem(c.file) != toolStem && (described || named)) {
			for _, fault := range c.unreadable {
				v.Log(item.Message{Level: mcp.Warning, At: fault.At, Text: fault.Reason + "; the tool is not offered"})
			}
			continue
		}
		in := v.Input(c.file, c.sources)
		in.Unreadable = c.unreadable
		if f, ok := BuildTool(in); ok {
			v.Add(f)
		}
	}
}

// ToolFields are the known fields of a tool, stored or not.
var ToolFields = []string{
	"name", "title", "description", "path", "inputSchema", "timeoutSecs", "timeoutHint", "progressExtendsTimeout",
	"maxTimeoutSecs", "outputSchema", "icons", "validateInput", "annotations", "requires", "id", "version",
	"capabilities", "confine", "securityLevel", "output", "largeResultBytes", "longRunning", "keepColors", "trial",
	"_meta", "arguments", "parameters",
	"execution", // for the tasks of revision 2025-11-25, which this server does not support
}

// storedToolFields are the fields that an entry cannot add as unknown fields.
var storedToolFields = append(slices.Clone(ToolFields), access.Unreadable)

func isByteCount(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Number && rawjson.PositiveInt(v) > 0 || string(v) == "0"
}

// BuildTool builds a tool, with its keys in the order of registry section 4.
func BuildTool(s *item.Input) (item.Candidate, bool) {
	f := item.Candidate{Path: s.Path}
	var given bool
	if f.Name, given = s.Text("name"); !given {
		f.Name = defaultToolName(s.Path)
	}
	if !s.CheckName(f.Name) {
		return item.Candidate{}, false
	}
	if !item.IsPlainName(f.Name) {
		const advice = "is refused by some clients: use only letters, digits, _, - and ., at most"
		s.Log(item.Message{
			Level: mcp.Warning, Topic: item.ClientName, At: s.Label,
			Text:   fmt.Sprintf("Tool name '%s' %s %d", f.Name, advice, item.MaxPlainName),
			Logged: fmt.Sprintf("Tool name '%s' (%s) %s %d", f.Name, s.Label, advice, item.MaxPlainName),
		})
	}
	s.CheckKeys(ToolFields)
	w := s.Begin(f.Name)
	w.Copy("title", rawjson.String)
	w.Description()
	w.Put("path", rawjson.Quote(s.Path))
	w.Put("inputSchema", s.InputSchema())
	w.PutOrNull("timeoutSecs", s.Seconds("timeoutSecs"))
	w.Text("timeoutHint")
	w.CopyTrue("progressExtendsTimeout")
	w.Put("maxTimeoutSecs", s.Seconds("maxTimeoutSecs"))
	w.Put("outputSchema", s.OutputSchema())
	w.Put("icons", s.Icons())
	w.Copy("validateInput", rawjson.Bool)
	annotations := s.ToolAnnotations()
	w.Put("annotations", annotations)
	w.Put("requires", s.Pick("requires", "an array of strings", rawjson.IsStrings))
	w.Put("largeResultBytes", s.Pick("largeResultBytes", "a whole number of bytes", isByteCount))
	w.Put("output", s.Pick("output", outputForm, isOutput))
	w.Put("longRunning", longRunning(s))
	w.CopyTrue("keepColors")
	w.Put("trial", s.Pick("trial", trialForm, isTrial))
	f.ID = f.Name
	if id, given := s.ID(); given {
		f.ID = id
		w.Put("id", rawjson.Quote(id))
	}
	w.Put("version", s.Version())
	if fault := s.UnreadableDeclaration(); fault != "" {
		w.Put(access.Unreadable, rawjson.Quote(fault))
	} else {
		capabilities := s.Capabilities()
		s.CheckAnnotations(capabilities, annotations)
		w.Put("capabilities", capabilities)
		w.Put("confine", s.Confine())
		w.Put("securityLevel", s.SecurityLevel())
	}
	w.Put("_meta", toolMeta(s))
	f.JSON = w.End(storedToolFields)
	return f, true
}

const outputForm = `an object with "type" ("text", "json" or "binary"), "mimeType" and "exitCodes" (texts by number)`

// isOutput reports whether a value describes the output of a program.
func isOutput(v json.RawMessage) bool {
	return isObjectOf(v, func(name string, member json.RawMessage) bool {
		text, _ := rawjson.Text(member)
		switch name {
		case "type":
			return slices.Contains([]string{"text", "json", "binary"}, text)
		case "mimeType":
			return text != ""
		case "exitCodes":
			return isObjectOf(member, func(code string, text json.RawMessage) bool {
				return isFailure(code) && rawjson.KindOf(text) == rawjson.String
			})
		}
		return false
	})
}

// isObjectOf reports whether a value is an object whose members all fit.
func isObjectOf(v json.RawMessage, fits func(name string, member json.RawMessage) bool) bool {
	if rawjson.KindOf(v) != rawjson.Object {
		return false
	}
	for name, member := range rawjson.All(v) {
		if !fits(name, member) {
			return false
		}
	}
	return true
}

// isFailure reports whether a text is the exit status of a program that fails.
func isFailure(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 256 && strconv.Itoa(n) == text
}

const trialForm = `an object with "words" (texts) or "arguments" (an object), and "exitCode" (1 to 255)`

// isTrial reports whether a value describes a trial.
func isTrial(v json.RawMessage) bool {
	calls := 0
	return isObjectOf(v, func(name string, member json.RawMessage) bool {
		switch name {
		case "words":
			calls++
			return rawjson.IsStrings(member) && string(member) != "[]"
		case "arguments":
			calls++
			return rawjson.KindOf(member) == rawjson.Object
		}
		return name == "exitCode" && isFailure(string(member))
	}) && calls == 1
}

// defaultToolName returns the default name of a tool. It is the stem of the file, or the
// name of the directory if the stem is "tool".
func defaultToolName(file string) string {
	dir, base := path.Split(file)
	if base = item.Stem(base); base == toolStem && dir != "" {
		return path.Base(dir)
	}
	return base
}

const longForm = `true, false or an object with "after", a positive integer, and "asksFirst", true or false`

// longRunning returns the field longRunning, or nil for tools that are not long-running.
func longRunning(s *item.Input) json.RawMessage {
	v := s.Pick("longRunning", longForm, isLongRunning)
	if string(v) == "false" {
		return nil
	}
	return v
}

func isLongRunning(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Bool || isObjectOf(v, func(name string, member json.RawMessage) bool {
		return name == "after" && rawjson.KindOf(member) == rawjson.Number && rawjson.PositiveInt(member) > 0 ||
			name == "asksFirst" && rawjson.KindOf(member) == rawjson.Bool
	})
}
