package declare

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// The files in server.d that declare items.
const (
	JSONFile = "register.json"
	HookFile = "register.sh"
)

// declarable yields the kinds that can be declared.
func declarable(yield func(*kinds.Kind) bool) {
	for _, k := range kinds.All {
		if k.Build != nil && !yield(k) {
			return
		}
	}
}

// A List is what a project declares of one kind.
type List struct {
	Origin  string // JSONFile or HookFile
	text    []byte // of the file that the entries stand in; nil: of none
	entries []json.RawMessage
	extras  bool  // unknown fields are kept
	sorted  bool  // by name; else the order of the entries is kept
	Merge   bool  // laid over what is found, else in its place
	Err     error // why the list cannot be used; nil: it can
}

// A Built is the items of a list, and what they depend on.
type Built struct {
	From       *List
	Candidates []item.Candidate
	Messages   []item.Message
	Dropped    []string         // for each entry that was left out: why
	hidden     []item.Candidate // their names, ids and paths: see [kinds.Declared]

	observations []folder.Observation
	unsure       bool // an item has to be built again, whatever was observed
}

// Declared returns the items as package kinds takes them.
func (b *Built) Declared() *kinds.Declared {
	return &kinds.Declared{Found: b.Candidates, Hidden: b.hidden, Sorted: b.From.sorted}
}

// Paths returns the paths of the entries, as they are written.
func (l *List) Paths() (paths []string) {
	for _, entry := range l.entries {
		if path := rawjson.TextOf(entry, "path"); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Build builds the items of a list. It returns last, which may be nil, when that
// still holds.
func Build(p *project.Project, k *kinds.Kind, list *List, last *Built) *Built {
	if last != nil && last.From == list && last.holds() {
		return last
	}
	result := &Built{From: list}
	content := k.ContentDir(p)
	for i, entry := range list.entries {
		where := item.Location{File: list.Origin, Part: fmt.Sprintf("%s[%d]", k.Key, i), Text: list.text}
		file := rawjson.TextOf(entry, "path")
		at := &entryDir{built: result, dir: filepath.Join(content, filepath.FromSlash(path.Dir(file)))}
		s := &item.Input{
			Fields:  item.Fields{Sources: []item.Source{item.NewSource(where, entry)}, Dir: at},
			Project: p, Noun: k.Noun, FaultLevel: k.FaultLevel, Content: content,
			Path: file, Label: where.At(entry), IconDirs: []string{content, p.Root}, KeepUnknown: list.extras,
		}
		var f item.Candidate
		fault := k.EntryFault(entry)
		ok := fault == "" || s.LeaveOut(fault)
		if ok {
			f, ok = k.Build(s)
		}
		if ok {
			result.Candidates = append(result.Candidates, f)
			continue
		}
		result.Dropped = append(result.Dropped, result.Messages[len(result.Messages)-1].Line())
		result.hidden = append(result.hidden, item.Candidate{
			Item: item.Item{Name: rawjson.TextOf(entry, "name")}, ID: rawjson.TextOf(entry, "id"), Path: file,
		})
	}
	return result
}

// holds reports whether the items are what [Build] would build now.
func (b *Built) holds() bool {
	changed := func(o folder.Observation) bool { return folder.Observe(o.Name) != o }
	return !b.unsure && !slices.ContainsFunc(b.observations, changed)
}

// An entryDir is the directory of a declared item's file. It was not listed, so
// what lies in it is looked at by path.
type entryDir struct {
	built *Built
	dir   string
}

func (d *entryDir) Log(m item.Message) { d.built.Messages = append(d.built.Messages, m) }

func (d *entryDir) Observed(o folder.Observation) {
	d.built.observations = append(d.built.observations, o)
}

func (d *entryDir) Recheck() { d.built.unsure = true }

func (d *entryDir) HasFileIn(dir, name string) bool {
	parent := filepath.Join(d.dir, dir)
	file := filepath.Join(parent, name)
	d.Observed(folder.Observe(file))
	return folder.StampOfPath(parent).Mode.IsDir() && folder.StampOfPath(file).IsFile()
}
