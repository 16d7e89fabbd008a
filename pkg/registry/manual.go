package registry

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Where handwritten lists come from.
const (
	jsonFile = "register.json"
	hookFile = "register.sh"
)

// manualKinds yields the kinds that can be listed by hand.
func manualKinds(yield func(*Kind) bool) {
	for _, k := range Kinds {
		if k.entry != nil && !yield(k) {
			return
		}
	}
}

// A manual is the handwritten list of one kind.
type manual struct {
	origin  string // jsonFile or hookFile
	text    []byte // of the file that the entries stand in; nil: of none
	entries []json.RawMessage
	extras  bool  // unknown fields are kept
	sorted  bool  // by R-39; else the order of the entries is kept
	merge   bool  // laid over what is discovered; else instead of it
	fault   error // why the list cannot be used; nil: it can
}

// A manualScan is what a handwritten list came to, with what was looked at on
// the way.
type manualScan struct {
	from    *manual
	found   []found
	said    []message
	dropped []string // why each entry was left out that was
	// hidden is what they are known by: as long as an entry is faulty, what it was
	// to take the place of is not offered in its stead.
	hidden []found

	notes  []note // what was looked at
	unsure bool   // something could not be read: look again
}

// items returns the items for a list.
func (s *manualScan) items() *declaredItems {
	return &declaredItems{s.found, s.hidden, s.from.sorted}
}

// scanManual makes the items of a handwritten list, unless the last ones still
// hold.
func scanManual(p *project.Project, k *Kind, m *manual, last *manualScan) *manualScan {
	if last != nil && last.from == m && !last.unsure && !slices.ContainsFunc(last.notes, func(n note) bool { return noteOf(n.name) != n }) {
		return last
	}
	result := &manualScan{from: m}
	content := k.content(p)
	for i, entry := range m.entries {
		where := writing{m.origin, fmt.Sprintf("%s[%d]", k.Key, i), m.text}
		file := rawjson.TextOf(entry, "path")
		at := &manualPlace{rec: result, dir: filepath.Join(content, filepath.FromSlash(path.Dir(file)))}
		s := &subject{
			project: p, noun: k.Noun, faults: k.faults, content: content, fields: fields{sources: []source{newSource(where, entry)}, place: at},
			path: file, shown: where.at(entry), iconDirs: []string{content, p.Root}, extras: m.extras,
		}
		var f found
		fault := k.entryFault(entry)
		ok := fault == "" || s.drop(fault)
		if ok {
			f, ok = k.entry(s)
		}
		if ok {
			result.found = append(result.found, f)
			continue
		}
		result.dropped = append(result.dropped, result.said[len(result.said)-1].text) // the last word on it
		result.hidden = append(result.hidden, found{
			Item: Item{Name: rawjson.TextOf(entry, "name")}, id: rawjson.TextOf(entry, "id"), path: file,
		})
	}
	return result
}

// A manualPlace is where the file of a handwritten item lies; nothing in it
// was listed, so it is looked at by path.
type manualPlace struct {
	rec *manualScan
	dir string
}

func (p *manualPlace) say(level mcp.Level, text string) {
	p.rec.said = append(p.rec.said, message{level, text})
}

func (p *manualPlace) noted(n note) { p.rec.notes = append(p.rec.notes, n) }

func (p *manualPlace) doubt() { p.rec.unsure = true }

func (p *manualPlace) isFile(dir, name string) bool {
	parent := filepath.Join(p.dir, dir)
	file := filepath.Join(parent, name)
	p.noted(noteOf(file))
	return stampOfPath(parent).mode.IsDir() && stampOfPath(file).isFile()
}
