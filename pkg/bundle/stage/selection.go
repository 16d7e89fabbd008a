package stage

import (
	_ "embed"
	"strings"
	"sync"

	"mcp-bash/pkg/bundle/internal/gitignore"
)

// A selection decides which files of a project go into its bundle (CLI-1416, CLI-1417).
type selection struct {
	ignore gitignore.Rules // .mcpbignore
	named  map[string]bool // files that MCPB_INCLUDE names
	cache  bool            // MCPB_INCLUDE names .registry
}

// ignoreName is the file of patterns of what is left out; maxIgnore is its maximum size
// in bytes.
const (
	ignoreName = ".mcpbignore"
	maxIgnore  = 1 << 20
)

// A verdict is the decision about a file or a directory.
type verdict int

const (
	take   verdict = iota
	skip           // left out, and not listed: litter, and what .mcpbignore names
	leave          // left out and listed
	refuse         // left out as a secret, and listed with the rule
)

// LeavesOut reports whether bundles leave a path of any project out, unless the project asks for it.
func LeavesOut(name string, isDir bool) bool { return !new(selection).takes(name, isDir) }

// decide returns the verdict for a path of the project, and the rule for a secret. It also leaves
// out all files below a directory that is left out.
func (s *selection) decide(name string, isDir bool) (v verdict, rule string) {
	if s.named[name] || s.cache && name == cacheDir {
		return take, ""
	}
	if s.isIgnored(name, isDir) {
		return skip, ""
	}
	if s.cache {
		name = strings.TrimPrefix(name, cacheDir+"/")
	}
	lists := leftOut()
	if rule := find(lists[3:], name, isDir); rule != "" {
		return refuse, rule
	}
	switch find(lists, name, isDir) {
	case "litter":
		return skip, ""
	case "version-control", "never-shipped":
		return leave, ""
	}
	return take, ""
}

func (s *selection) takes(name string, isDir bool) bool {
	v, _ := s.decide(name, isDir)
	return v == take
}

// isIgnored reports whether .mcpbignore leaves a path out.
func (s *selection) isIgnored(name string, isDir bool) bool {
	return s.ignore.Decide(name, isDir) == gitignore.Ignored
}

func isVersionControl(name string, isDir bool) bool { return find(leftOut()[:1], name, isDir) != "" }

//go:embed left-out.txt
var leftOutText string

// A list is a section of left-out.txt.
type list struct {
	name  string
	rules gitignore.Rules
}

// leftOut returns the lists of left-out.txt. Those after the first three have files with secrets, and their names are
// the rules.
var leftOut = sync.OnceValue(func() (lists []list) {
	for _, section := range strings.Split(leftOutText, "\n[")[1:] {
		name, patterns, _ := strings.Cut(section, "]\n")
		lists = append(lists, list{name, gitignore.Parse(patterns)})
	}
	return lists
})

// find returns the first of some lists that names a path, whatever its case, or "".
func find(lists []list, name string, isDir bool) string {
	name = strings.ToLower(name)
	for _, l := range lists {
		if l.rules.Decide(name, isDir) == gitignore.Ignored {
			return l.name
		}
	}
	return ""
}
