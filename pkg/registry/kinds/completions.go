package kinds

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// Completions are scripts that complete arguments. A project declares them; they are not
// discovered (registry section 8).
var Completions = &Kind{
	Key:        "completions",
	File:       "completions.json",
	Logger:     "mcp.completion",
	Noun:       "completion",
	Name:       "Completions registry",
	code:       mcp.CodeMethodNotFound,
	message:    "Completion not found",
	FaultLevel: mcp.Err,
	TTL:        func(d *project.Discovery) time.Duration { return d.RegisterTTL },
	Build:      buildCompletion,
	combine: func(a *Assembly) []item.Candidate {
		items := a.standard()
		slices.SortStableFunc(items, byName)
		return items
	},
}

// completionPath returns the path of a script relative to the project root; ok is false
// for a script outside. The directories may be symbolic links, the script may not.
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
	if err != nil || !filepath.IsLocal(rel) || !folder.StampOfPath(path).IsFile() {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

var completionFields = []string{"name", "path", "kind", "timeoutSecs"}

// buildCompletion builds a completion. It leaves out an entry that names no script.
func buildCompletion(s *item.Input) (item.Candidate, bool) {
	s.Recheck() // the target of the path may change at any time
	name, _ := s.Text("name")
	name = strings.Join(strings.Fields(name), " ")
	path, ok := completionPath(s.Project, s.Path)
	switch {
	case name == "":
		return item.Candidate{}, s.LeaveOut("Completion entry missing name")
	case !s.CheckName(name):
		return item.Candidate{}, false
	case !ok:
		return item.Candidate{}, s.LeaveOut(fmt.Sprintf("Completion path %s invalid or outside server root", s.Path))
	}
	s.Path = path
	checkRunnable(s, filepath.Join(s.Project.Root, filepath.FromSlash(path)))
	s.CheckKeys(completionFields)
	w := s.Begin(name)
	w.Put("path", rawjson.Quote(s.Path))
	w.Put("kind", rawjson.Quote("shell"))
	w.Put("timeoutSecs", s.Limit("timeoutSecs"))
	return item.Candidate{Item: item.Item{Name: name, JSON: w.End(completionFields)}, ID: name, Path: s.Path}, true
}

// checkRunnable warns about a script that cannot be started (T-44).
func checkRunnable(s *item.Input, file string) {
	if _, err := script.Command(file); errors.Is(err, script.ErrNotRunnable) {
		s.Log(item.Message{Level: mcp.Warning, At: s.Label,
			Text: fmt.Sprintf("%s is not runnable; run chmod +x %s, or begin it with #!", s.Path, shell.Quote(file))})
	}
}
