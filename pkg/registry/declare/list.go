package declare

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// Where handwritten lists come from.
const (
	JSONFile = "register.json"
	HookFile = "register.sh"
)

// declarable yields the kinds that can be listed by hand.
func declarable(yield func(*kinds.Kind) bool) {
	for _, k := range kinds.All {
		if k.Build != nil && !yield(k) {
			return
		}
	}
}

// A List is the handwritten list of one kind.
type List struct {
	Origin  string // jsonFile or hookFile
	text    []byte // of the file that the entries stand in; nil: of none
	entries []json.RawMessage
	extras  bool  // unknown fields are kept
	sorted  bool  // by R-39; else the order of the entries is kept
	Merge   bool  // laid over what is discovered; else instead of it
	Err     error // why the list cannot be used; nil: it can
}

// A Built is what a handwritten list came to, with what was looked at on
// the way.
type Built struct {
	From       *List
	Candidates []item.Candidate
	Messages   []item.Message
	Dropped    []string // why each entry was left out that was
	// hidden is what they are known by: as long as an entry is faulty, what it was
	// to take the place of is not offered in its stead.
	hidden []item.Candidate

	observations []folder.Observation // what was looked at
	unsure       bool                 // something could not be read: look again
}

// Declared returns the items for a list.
func (s *Built) Declared() *kinds.Declared {
	return &kinds.Declared{Found: s.Candidates, Hidden: s.hidden, Sorted: s.From.sorted}
}

// Build makes the items of a handwritten list, unless the last ones still
// hold.
func Build(p *project.Project, k *kinds.Kind, m *List, last *Built) *Built {
	if last != nil && last.From == m && !last.unsure && !slices.ContainsFunc(last.observations, func(n folder.Observation) bool { return folder.Observe(n.Name) != n }) {
		return last
	}
	result := &Built{From: m}
	content := k.ContentDir(p)
	for i, entry := range m.entries {
		where := item.Location{File: m.Origin, Part: fmt.Sprintf("%s[%d]", k.Key, i), Text: m.text}
		file := rawjson.TextOf(entry, "path")
		at := &entryDir{built: result, dir: filepath.Join(content, filepath.FromSlash(path.Dir(file)))}
		s := &item.Input{
			Project: p, Noun: k.Noun, FaultLevel: k.FaultLevel, Content: content, Fields: item.Fields{Sources: []item.Source{item.NewSource(where, entry)}, Dir: at},
			Path: file, Label: where.At(entry), IconDirs: []string{content, p.Root}, KeepUnknown: m.extras,
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
		result.Dropped = append(result.Dropped, result.Messages[len(result.Messages)-1].Text) // the last word on it
		result.hidden = append(result.hidden, item.Candidate{
			Item: item.Item{Name: rawjson.TextOf(entry, "name")}, ID: rawjson.TextOf(entry, "id"), Path: file,
		})
	}
	return result
}

// A entryDir is where the file of a handwritten item lies; nothing in it
// was listed, so it is looked at by path.
type entryDir struct {
	built *Built
	dir   string
}

func (p *entryDir) Log(level mcp.Level, text string) {
	p.built.Messages = append(p.built.Messages, item.Message{Level: level, Text: text})
}

func (p *entryDir) Observed(n folder.Observation) {
	p.built.observations = append(p.built.observations, n)
}

func (p *entryDir) Recheck() { p.built.unsure = true }

func (p *entryDir) HasFileIn(dir, name string) bool {
	parent := filepath.Join(p.dir, dir)
	file := filepath.Join(parent, name)
	p.Observed(folder.Observe(file))
	return folder.StampOfPath(parent).Mode.IsDir() && folder.StampOfPath(file).IsFile()
}
