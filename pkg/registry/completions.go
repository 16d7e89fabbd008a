package registry

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Completions are scripts that complete arguments. They are only listed by
// hand (registry section 8).
var Completions = &Kind{
	Key:     "completions",
	File:    "completions.json",
	Logger:  "mcp.completion",
	Noun:    "completion",
	Name:    "Completions registry",
	code:    mcp.CodeMethodNotFound,
	message: "Completion not found",
	faults:  mcp.Err,
	ttl:     func(d *project.Discovery) time.Duration { return d.RegisterTTL },
	entry:   makeCompletion,
	vet:     vetCompletions,
	combine: func(a *assembly) []found {
		items := a.standard()
		slices.SortStableFunc(items, byName)
		return items
	},
}

// vetCompletions is R-82: one bad entry spoils the list.
func vetCompletions(p *project.Project, entries []json.RawMessage) string {
	names := make(map[string]bool, len(entries))
	for i, entry := range entries {
		name, path := completionName(rawjson.TextOf(entry, "name")), rawjson.TextOf(entry, "path")
		_, found := completionPath(p, path)
		fault := ""
		switch {
		case name == "":
			fault = "Completion entry missing name"
		case names[name]:
			fault = "Duplicate completion name " + name
		case !found:
			fault = fmt.Sprintf("Completion path %s invalid or outside server root", path)
		default:
			names[name] = true
			continue
		}
		return fmt.Sprintf("completions[%d]: %s", i, fault)
	}
	return ""
}

// completionName is a name in the one way it is written.
func completionName(name string) string { return strings.Join(strings.Fields(name), " ") }

// completionPath returns where a script lies below the project root; not ok:
// nowhere. The directories that lead to it may be links, itself it may not.
func completionPath(p *project.Project, path string) (rel string, ok bool) {
	if path == "" {
		return "", false
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(p.Root, path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	path = filepath.Join(dir, filepath.Base(path))
	rel, err = filepath.Rel(p.Root, path)
	if err != nil || !filepath.IsLocal(rel) || !stampOfPath(path).isFile() {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

var completionFields = []string{"name", "path", "kind", "timeoutSecs"}

// makeCompletion makes the item of an entry that was vetted.
func makeCompletion(s *subject) (found, bool) {
	name, _ := s.text("name")
	name = completionName(name)
	if !s.checkName(name) {
		return found{}, false
	}
	if path, ok := completionPath(s.p, s.path); ok {
		s.path = path
	}
	w := s.write(name)
	w.put("path", rawjson.Quote(s.path))
	w.put("kind", rawjson.Quote("shell"))
	w.put("timeoutSecs", s.seconds("timeoutSecs"))
	return found{Item: Item{Name: name, JSON: w.end(completionFields)}, id: name, path: s.path}, true
}
