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

// manualKinds yields the kinds that can be listed by hand (registry R-141).
func manualKinds(yield func(*Kind) bool) {
	for _, k := range Kinds {
		if k.entry != nil && !yield(k) {
			return
		}
	}
}

// entryFault says why an entry is no entry of the kind, "" when it is one
// . What a kind without required fields makes of it, its entry says.
func (k *Kind) entryFault(entry json.RawMessage) string {
	if k.required != nil && rawjson.KindOf(entry) != rawjson.Object {
		return "not an object"
	}
	for _, name := range k.required {
		switch v := rawjson.Get(entry, name); {
		case rawjson.Absent(v), string(v) == `""`:
			return fmt.Sprintf("missing %q", name)
		case rawjson.KindOf(v) != rawjson.String:
			return fmt.Sprintf("%q must be a string", name)
		}
	}
	return ""
}

// A manual is the handwritten list of one kind.
type manual struct {
	origin  string // jsonFile or hookFile
	entries []json.RawMessage
	extras  bool      // unknown fields are kept
	sorted  bool      // by R-39; else the order of the entries is kept
	merge   bool      // laid over what is discovered; else instead of it
	said    []message // about entries that were left out
	fault   string    // why the list cannot be used
}

// A manualScan is what a handwritten list came to, with what was looked at on
// the way.
type manualScan struct {
	from *manual
	record
}

// scanManual makes the items of a handwritten list, unless the last ones still
// hold.
func scanManual(p *project.Project, k *Kind, m *manual, last *manualScan) *manualScan {
	if last != nil && last.from == m && !last.unsure && !slices.ContainsFunc(last.notes, func(n note) bool { return noteOf(n.name) != n }) {
		return last
	}
	result := &manualScan{from: m, record: record{said: slices.Clone(m.said)}}
	content := k.content(p)
	for i, entry := range m.entries {
		where := fmt.Sprintf("%s: %s[%d]", m.origin, k.Key, i)
		file := rawjson.TextOf(entry, "path")
		at := &manualPlace{rec: &result.record, dir: filepath.Join(content, filepath.FromSlash(path.Dir(file)))}
		s := &subject{
			p: p, kind: k, fields: fields{sources: []source{newSource(where, entry)}, place: at}, place: at,
			path: file, shown: where, iconDirs: []string{content, p.Root}, extras: m.extras,
		}
		if f, ok := k.entry(s); ok {
			result.found = append(result.found, f)
		}
	}
	return result
}

// A manualPlace is where the file of a handwritten item lies; nothing in it
// was listed, so it is looked at by path.
type manualPlace struct {
	rec *record
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
