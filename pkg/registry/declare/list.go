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

func declarable(yield func(*kinds.Kind) bool) {
	for _, k := range kinds.All {
		if k.Build != nil && !yield(k) {
			return
		}
	}
}

// A List contains the entries that a project declares for one kind.
type List struct {
	Origin  string // JSONFile or HookFile
	text    []byte // of the file that contains the entries; nil: there is no file
	entries []json.RawMessage
	extras  bool  // keep unknown fields
	sorted  bool  // sort by name, else keep the order of the entries
	Merge   bool  // add the items to the discovered ones, else replace those
	Err     error // why the list cannot be used, or nil
}

// A Built contains the items of a list, and the files that they depend on.
type Built struct {
	From       *List
	Candidates []item.Candidate
	Messages   []item.Message
	Dropped    []string         // the reason for each entry that was left out
	hidden     []item.Candidate // the names, ids and paths of these entries: see [kinds.Declared]

	observations []folder.Observation
	unsure       bool // build the items again in any case
}

// Declared returns the items in the form of package kinds.
func (b *Built) Declared() *kinds.Declared {
	return &kinds.Declared{Found: b.Candidates, Hidden: b.hidden, Sorted: b.From.sorted}
}

// Paths returns the paths of the entries as they are in the file.
func (l *List) Paths() (paths []string) {
	for _, entry := range l.entries {
		if path := rawjson.TextOf(entry, "path"); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Build builds the items of a list. It returns last, which may be nil, if last is still
// valid.
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

// holds reports whether the files that the items depend on are unchanged.
func (b *Built) holds() bool {
	changed := func(o folder.Observation) bool { return folder.Observe(o.Name) != o }
	return !b.unsure && !slices.ContainsFunc(b.observations, changed)
}

// An entryDir is the directory of a declared item's file. It is not open, so its files are
// found by their paths.
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
