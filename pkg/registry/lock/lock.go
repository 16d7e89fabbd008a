// Package lock pins the items that a project offers and the files that it runs, in the file mcp-bash.lock.json.
//
// [Of] makes the lock of a project as it is now, [Read] reads the lock file, and [Compare] returns the differences of
// two locks. A server with a lock asks a [Guard], which compares items and files with the lock again and again.
package lock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/text/merge"
)

// FileName is the name of the lock of a project, at its root.
const FileName = "mcp-bash.lock.json"

// maxSize limits the file, in bytes.
const maxSize = 16 << 20

const version = 1

// The kinds of items that are not kinds of the registry.
const (
	Project   = "project" // the project itself, an item without a name
	skillsKey = "skills"
)

// filesMember is the member of each item with the digests of its files, by path: "sha256:" and 64 hexadecimal digits.
const filesMember = "files"

// An Item is an item of a kind, such as a tool or a skill, or the project itself.
type Item struct {
	Kind string          // the Key of a [kinds.Kind], Project or "skills"
	Name string          // "" for the project
	JSON json.RawMessage // canonical object
}

// A Lock has the items of a project, in the order of the file.
type Lock struct {
	Items []Item
	index map[[2]string]int // of Items, by kind and name
}

// order returns the keys of the file in their order.
func order() []string {
	keys := []string{Project}
	for _, kind := range kinds.All {
		keys = append(keys, kind.Key)
	}
	return append(keys, skillsKey)
}

// newLock returns the lock with items in any order. No two of them have the same kind and name.
func newLock(items []Item) *Lock {
	keys := order()
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(slices.Index(keys, a.Kind)-slices.Index(keys, b.Kind), strings.Compare(a.Name, b.Name))
	})
	l := &Lock{items, make(map[[2]string]int, len(items))}
	for at, i := range items {
		l.index[[2]string{i.Kind, i.Name}] = at
	}
	return l
}

// Find returns an item, or nil.
func (l *Lock) Find(kind, name string) *Item {
	if at, ok := l.index[[2]string{kind, name}]; ok {
		return &l.Items[at]
	}
	return nil
}

// AppendJSON appends the lock as the file has it. Equal locks have equal bytes.
func (l *Lock) AppendJSON(dst []byte) []byte {
	var b rawjson.Builder
	b.Object().Name("version").Int(version)
	for _, key := range order() {
		var list []Item
		for _, i := range l.Items {
			if i.Kind == key {
				list = append(list, i)
			}
		}
		switch {
		case len(list) == 0:
		case key == Project:
			b.Name(key).Raw(list[0].JSON)
		default:
			b.Name(key).Array()
			for _, i := range list {
				b.Raw(i.JSON)
			}
			b.End()
		}
	}
	return append(rawjson.AppendIndent(dst, b.End().Bytes(), 0), '\n')
}

// A FileError is the reason why the lock of a project cannot be used. It may be [fs.ErrNotExist].
type FileError struct{ Err error }

func (e *FileError) Error() string { return FileName + ": " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }

// Remedy returns instructions for the user.
func (e *FileError) Remedy() string {
	return "run mcp-bash registry lock, and review the file"
}

// Read reads the lock of a project. Its error is a [*FileError].
func Read(p *project.Project) (*Lock, error) {
	text, err := p.ReadSetting(code.Lock.In(p), maxSize)
	if err != nil {
		return nil, &FileError{err}
	}
	l, err := parse(text)
	if err != nil {
		return nil, &FileError{err}
	}
	return l, nil
}

// Write replaces the lock of a project as a whole.
func (l *Lock) Write(p *project.Project) error {
	dir, err := os.OpenRoot(p.Root)
	if err == nil {
		defer dir.Close()
		_, err = atomicfile.Write(dir, FileName, l.AppendJSON(nil))
	}
	if err == nil {
		err = dir.Chmod(FileName, 0o644)
	}
	if err != nil {
		return &FileError{err}
	}
	return nil
}

// parse returns the lock in the text of a file. An unknown version or member is an error, because it may restrict the
// server.
func parse(text []byte) (*Lock, error) {
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, err
	}
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, errors.New("not a JSON object")
	}
	if v := rawjson.Get(doc, "version"); string(v) != "1" {
		return nil, fmt.Errorf("unknown version %.20s; this program knows version %d", cmp.Or(string(v), "(none)"), version)
	}
	var items []Item
	keys, seen := order(), map[[2]string]bool{}
	for key, value := range rawjson.All(doc) {
		list := []json.RawMessage{value}
		switch {
		case key == "version":
			continue
		case !slices.Contains(keys, key):
			return nil, fmt.Errorf("unknown member %q", key)
		case key != Project && rawjson.KindOf(value) != rawjson.Array:
			return nil, fmt.Errorf("%s is not an array", key)
		case key != Project:
			list = slices.Collect(rawjson.Elements(value))
		}
		for _, v := range list {
			i, err := parseItem(key, v)
			if err != nil {
				return nil, err
			}
			name := [2]string{key, i.Name}
			if seen[name] {
				return nil, fmt.Errorf("%s: %q is there twice", key, i.Name)
			}
			seen[name], items = true, append(items, i)
		}
	}
	if !seen[[2]string{Project, ""}] {
		return nil, errors.New("no project")
	}
	return newLock(items), nil
}

func parseItem(key string, v json.RawMessage) (Item, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return Item{}, fmt.Errorf("%s: an item is not an object", key)
	}
	i := Item{Kind: key, JSON: rawjson.AppendCanonical(nil, v)}
	if key != Project {
		i.Name = rawjson.TextOf(v, "name")
	}
	switch {
	case key != Project && i.Name == "":
		return i, fmt.Errorf("%s: an item has no name", key)
	case rawjson.KindOf(rawjson.Get(v, filesMember)) != rawjson.Object:
		return i, fmt.Errorf("%s: %q has no files", key, i.Name)
	}
	for path, digest := range rawjson.All(rawjson.Get(v, filesMember)) {
		if rawjson.KindOf(digest) != rawjson.String {
			return i, fmt.Errorf("%s: %q: the digest of %q is not a string", key, i.Name, path)
		}
	}
	return i, nil
}

// A Concern is the reason why a change matters.
type Concern string

// The concerns.
const (
	reads Concern = "read by models"
	runs  Concern = "runs"
	may   Concern = "permissions"
)

// Concerns are all concerns, in the order in which people read them.
var Concerns = []Concern{reads, runs, may}

// A Change is the difference of one member of an item between two locks.
type Change struct {
	Kind, Name    string          // of the item
	Member        string          // "description", "files/tools/add/tool.sh", or "" for a whole item
	Before, After json.RawMessage // nil if the member is absent
	Concern       Concern
}

// Item returns the item for people: "tool add", or "project".
func (c *Change) Item() string { return (&Item{Kind: c.Kind, Name: c.Name}).Label() }

// Label returns the kind and the name for people: "tool add", or "project".
func (i *Item) Label() string {
	if i.Kind == Project {
		return Project
	}
	noun := "skill"
	for _, kind := range kinds.All {
		if kind.Key == i.Kind {
			noun = kind.Noun
		}
	}
	return noun + " " + i.Name
}

// Lines returns the changed lines of a member: "- " and an old one, or "+ " and a new one.
func (c *Change) Lines() []string { return merge.Changed(textOf(c.Before), textOf(c.After)) }

// concerns has the members that are not for models.
var concerns = map[string]Concern{
	"path": runs, "provider": runs, "entrypoint": runs, "kind": runs, "requires": runs, "trial": runs, "output": runs,
	"capabilities": may, "confine": may, "securityLevel": may, "env": may, "scopes": may, "roots": may, "timeoutSecs": may,
	"maxTimeoutSecs": may, "progressExtendsTimeout": may, "validateInput": may, "csp": may, "permissions": may,
	"domain": may, "longRunning": may, "largeResultBytes": may,
}

// concernOf returns the concern of a member. Most members are texts for models.
func concernOf(member string) Concern {
	if path, isFile := strings.CutPrefix(member, filesMember+"/"); isFile {
		if path == "server.d/policy.sh" || path == "server.d/env.sh" || strings.HasPrefix(path, "config/") {
			return may
		}
		return runs
	}
	if c := concerns[strings.TrimPrefix(member, "meta/")]; c != "" {
		return c
	}
	return reads
}

// Compare returns the changes from one lock to another, in the order of the file. An item that only one lock has is
// one change.
func Compare(before, after *Lock) (list []Change) {
	all := slices.Clone(before.Items)
	for _, i := range after.Items {
		if before.Find(i.Kind, i.Name) == nil {
			all = append(all, i)
		}
	}
	for _, i := range newLock(all).Items {
		list = append(list, compareItem(i, before.Find(i.Kind, i.Name), after.Find(i.Kind, i.Name))...)
	}
	return list
}

func compareItem(i Item, before, after *Item) (list []Change) {
	if before == nil || after == nil {
		c := Change{Kind: i.Kind, Name: i.Name, Concern: reads}
		if before != nil {
			c.Before = before.JSON
		} else {
			c.After = after.JSON
		}
		return []Change{c}
	}
	add := func(member string, a, b json.RawMessage) {
		if !rawjson.Equal(a, b) {
			list = append(list, Change{i.Kind, i.Name, member, a, b, concernOf(member)})
		}
	}
	compareMembers(before.JSON, after.JSON, func(name string, a, b json.RawMessage) {
		if name != filesMember && name != "meta" {
			add(name, a, b)
			return
		}
		compareMembers(a, b, func(inner string, a, b json.RawMessage) { add(name+"/"+inner, a, b) })
	})
	return list
}

// compareMembers calls f with each member of two objects, by name.
func compareMembers(a, b json.RawMessage, f func(name string, a, b json.RawMessage)) {
	var names []string
	for _, v := range []json.RawMessage{a, b} {
		for name := range rawjson.All(v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		f(name, rawjson.Get(a, name), rawjson.Get(b, name))
	}
}

// Print prints changes for people, those of an item together.
func Print(w io.Writer, changes []Change) {
	last := ""
	for i := range changes {
		c := &changes[i]
		if item := c.Item(); item != last {
			last = item
			cli.Printf(w, "%s\n", item)
		}
		switch {
		case c.Member == "" && c.Before == nil:
			fmt.Fprintln(w, "  added")
			continue
		case c.Member == "":
			fmt.Fprintln(w, "  removed")
			continue
		}
		cli.Printf(w, "  %s (%s)\n", c.Member, string(c.Concern))
		for _, line := range c.Lines() {
			cli.Printf(w, "    %s\n", line)
		}
	}
}

// textOf returns a value as text with lines. An absent value is "".
func textOf(v json.RawMessage) string {
	if text, ok := rawjson.Text(v); ok {
		return text
	}
	if v == nil {
		return ""
	}
	return string(rawjson.AppendIndent(nil, v, 0))
}
