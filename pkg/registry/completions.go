package registry

import (
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
	combine: func(a *assembly) []found {
		items := a.standard()
		slices.SortStableFunc(items, byName)
		return items
	},
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

// makeCompletion makes the item, or leaves the entry out where it names no script
//
func makeCompletion(s *subject) (found, bool) {
	s.doubt() // what its path leads to may change at any time
	name, _ := s.text("name")
	name = completionName(name)
	path, ok := completionPath(s.project, s.path)
	switch {
	case name == "":
		return found{}, s.drop("Completion entry missing name")
	case !s.checkName(name):
		return found{}, false
	case !ok:
		return found{}, s.drop(fmt.Sprintf("Completion path %s invalid or outside server root", s.path))
	}
	s.path = path
	checkRunnable(s, filepath.Join(s.project.Root, filepath.FromSlash(path)))
	s.checkKeys(completionFields)
	w := s.write(name)
	w.put("path", rawjson.Quote(s.path))
	w.put("kind", rawjson.Quote("shell"))
	w.put("timeoutSecs", s.seconds("timeoutSecs"))
	return found{Item: Item{Name: name, JSON: w.end(completionFields)}, id: name, path: s.path}, true
}
