// Package declare reads the items that a project declares in server.d/register.json or
// registers in the hook server.d/register.sh.
//
// A [Reader] reads register.json into a [Document], and a [Hook] runs register.sh. Both
// return a [List] of entries for each kind, and [Build] builds the items of a list.
package declare

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
)

// A Document is the content of server.d/register.json (registry section 14).
type Document struct {
	Lists   map[string]*List // by the key of the kind; other kinds are not declared
	Exclude []string         // ids and names of tools that are not offered
}

// Excluded returns the ids and names of the items of a kind that are not offered.
func (d *Document) Excluded(k *kinds.Kind) []string {
	if d == nil || k != kinds.Tools {
		return nil
	}
	return d.Exclude
}

// A Reader reads register.json once for all kinds of one check, so that they use the same
// text. It returns the same Document until the text changes.
type Reader struct {
	project *project.Project
	mu      sync.Mutex
	number  int64     // of the last check that read the file
	doc     *Document // the result of that check
	err     error
	sum     [sha256.Size]byte // of the last valid text
	last    *Document         // the content of that text
}

// NewReader returns the reader of a project. It reads nothing yet.
func NewReader(p *project.Project) *Reader { return &Reader{project: p} }

// A Fault is the reason why register.json cannot be used. It makes kinds unavailable.
type Fault struct {
	Text         string
	Line, Column int  // of a syntax error, else 0
	Insecure     bool // other users could have written the file, so it is ignored
}

func (e *Fault) Error() string { return e.Text }

// Faultf returns a fault. Its text begins with the name of the file.
func Faultf(format string, args ...any) *Fault {
	return &Fault{Text: fmt.Sprintf("Declarative register.json "+format, args...)}
}

// Read returns the Document for the check of the catalog with a number, or nil if there is
// no file. If a check after the number asked has read the file, Read returns the result of
// that check. The error is a [*Fault].
func (r *Reader) Read(asked, number int64) (*Document, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.number <= asked {
		r.doc, r.err = r.readNow()
		r.number = number
	}
	return r.doc, r.err
}

func (r *Reader) readNow() (*Document, error) {
	text, err := ReadFile(r.project)
	if text == nil || err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if r.last == nil || sum != r.sum {
		doc, err := Parse(text)
		if err != nil {
			return nil, err
		}
		r.sum, r.last = sum, doc
	}
	return r.last, nil
}

// ReadFile returns the text of register.json, or nil if there is no file. The error is a
// [*Fault].
func ReadFile(p *project.Project) ([]byte, error) {
	file := code.RegisterList.In(p)
	if _, err := os.Lstat(file.Path()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if insecure, ok := errors.AsType[*trust.InsecureError](p.CheckTrusted(file)); ok {
		fault := Faultf("refused: %s", p.Brief(insecure))
		fault.Insecure = true
		return nil, fault
	}
	text, _, err := folder.ReadFile(file.Path(), p.Discovery.MaxManual)
	switch {
	case errors.Is(err, folder.ErrTooLarge):
		return nil, Faultf("exceeded %d bytes", p.Discovery.MaxManual)
	case err != nil:
		return nil, &Fault{Text: "Unable to read declarative register.json"}
	}
	return text, nil
}

// Parse parses the text of register.json. The error, a [*Fault], concerns all kinds. List.Err is the error of the list
// of one kind.
func Parse(text []byte) (*Document, error) {
	doc, err := item.CheckJSON(text, item.MaxNesting)
	if err != nil {
		fault := Faultf("parsing/validation failed: %s", err)
		if syntax, ok := errors.AsType[*item.SyntaxError](err); ok {
			fault.Line, fault.Column = syntax.Line, syntax.Column
		}
		return nil, fault
	}
	d, fault := topLevel(doc)
	if fault != "" {
		return nil, Faultf("parsing/validation failed: register.json %s", fault)
	}
	for _, m := range d.Lists {
		m.text = text
	}
	return d, nil
}

// mergeable are the kinds that merge may name.
var mergeable = []string{"tools", "resources", "prompts"}

// topLevel reads a document, but not its entries.
func topLevel(doc json.RawMessage) (d *Document, fault string) {
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, "must be a JSON object"
	}
	version := rawjson.Get(doc, "version")
	if rawjson.KindOf(version) != rawjson.Number {
		return nil, "version must be a number"
	}
	if n, err := strconv.ParseFloat(string(version), 64); err != nil || n != 1 {
		return nil, "version must be 1"
	}
	d = &Document{Lists: make(map[string]*List)}
	allowed := []string{"version", "merge", "exclude", "_meta", "$schema"}
	for kind := range declarable {
		allowed = append(allowed, kind.Key)
	}
	var unknown []string
	for _, m := range rawjson.Members(doc) {
		if !slices.Contains(allowed, m.Name) {
			unknown = append(unknown, m.Name+cli.DidYouMean(m.Name, allowed))
		}
	}
	if unknown != nil {
		return nil, "unknown keys: " + strings.Join(unknown, ",")
	}
	if v := rawjson.Get(doc, "_meta"); !rawjson.Absent(v) && rawjson.KindOf(v) != rawjson.Object {
		return nil, "_meta must be an object"
	}
	for kind := range declarable {
		v := rawjson.Get(doc, kind.Key)
		if rawjson.Absent(v) {
			continue
		}
		if rawjson.KindOf(v) != rawjson.Array {
			fault := Faultf("parsing/validation failed: register.json %s must be an array or null", kind.Key)
			d.Lists[kind.Key] = &List{Origin: JSONFile, Err: fault}
			continue
		}
		d.Lists[kind.Key] = listOf(kind, v)
		d.Lists[kind.Key].Origin = JSONFile
	}
	merge, ok := rawjson.Strings(rawjson.Get(doc, "merge"))
	if !ok || slices.ContainsFunc(merge, func(key string) bool { return !slices.Contains(mergeable, key) }) {
		return nil, "merge must be an array of " + strings.Join(mergeable, ", ")
	}
	for _, key := range merge {
		if m := d.Lists[key]; m != nil {
			m.Merge = true
		}
	}
	if d.Exclude, ok = rawjson.Strings(rawjson.Get(doc, "exclude")); !ok {
		return nil, "exclude must be an array of strings"
	}
	return d, ""
}

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
	Merge   bool  // add the items to the discovered ones; else replace the discovered ones
	Err     error // why the list cannot be used, or nil
}

// listOf returns the entries of an array for a kind.
func listOf(kind *kinds.Kind, array json.RawMessage) *List {
	m := &List{entries: slices.Collect(rawjson.Elements(array)), extras: true}
	m.Merge = kind.Overlays && len(m.entries) > 0
	return m
}

// A Built contains the items of a list, and the files that they depend on.
type Built struct {
	kinds.Declared
	From     *List
	Messages []item.Message
	Dropped  []string // the reason for each entry that was left out

	observations []folder.Observation
	unsure       bool // do not reuse the items
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
	result.Sorted = list.sorted
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
			result.Found = append(result.Found, f)
			continue
		}
		result.Dropped = append(result.Dropped, result.Messages[len(result.Messages)-1].Line())
		result.Hidden = append(result.Hidden, item.Candidate{
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
