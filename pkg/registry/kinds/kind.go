// Package kinds describes the six kinds of items that a project offers: tools, resources, resource templates, prompts,
// completions and UI resources.
//
// A [Kind] contains the names of the kind, the directories of its items, and the functions that find and build them.
// Packages above treat all kinds alike. An [Assembly] combines discovered and declared items into a list, and decides
// which of two items with the same name stays.
package kinds

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// All are the kinds, in the order in which they are refreshed, reported and notified.
var All = []*Kind{Tools, Resources, Templates, Prompts, Completions, UIResources}

// A Kind describes one kind of item: its names, and how items are found and built. It is
// constant.
type Kind struct {
	Key    string // in register.json and in the output of commands
	File   string // the registry file
	Logger string // of messages about the kind
	Noun   string // "tool": one item, in messages
	Name   string // "Tool registry": in the message that the registry file is too large

	// The error for a request when the list is not available (see [Kind.Unavailable]). 0 means an internal error.
	code    int
	message string

	FaultLevel mcp.Level // of messages about faults of register.json
	Plural     string    // "Tools": in the warning about many items; "": no such warning

	// TTL returns how long a list is valid before the project is checked again.
	TTL func(*project.Discovery) time.Duration

	// Trees are the directories of items, in order of precedence. A kind without trees is
	// only declared.
	Trees []scan.Tree
	// Build builds an item from an entry of a declared list; nil: the kind cannot be
	// declared.
	Build func(*item.Input) (item.Candidate, bool)
	// required are the fields that an entry must have.
	required []string
	// guarded makes the scan ignore metadata that other users could have written.
	guarded bool
	// Overlays adds declared items to discovered ones. Without it, a non-empty list of declared items replaces the
	// discovered ones.
	Overlays bool

	// combine returns the items of a list; nil: [Assembly.standard] does.
	combine func(*Assembly) []item.Candidate
	// After is the kind whose list combine needs, or nil.
	After *Kind
}

// Spec returns the description of the kind for package scan.
func (k *Kind) Spec() scan.Spec {
	return scan.Spec{Noun: k.Noun, FaultLevel: k.FaultLevel, Guarded: k.guarded, Trees: k.Trees}
}

// ContentDir returns the directory that the paths of items are relative to.
func (k *Kind) ContentDir(p *project.Project) string {
	if len(k.Trees) == 0 {
		return p.Root
	}
	return k.Trees[0].Dir(p)
}

// Label returns the path of a candidate for messages.
func (k *Kind) Label(p *project.Project, f item.Candidate) string {
	dir := k.ContentDir(p)
	if f.Tree > 0 {
		dir = k.Trees[f.Tree].Dir(p)
	}
	return path.Join(folder.Label(p.Root, dir), f.Path)
}

// Unavailable returns the error for a request that needs the list of this kind. err is the reason why the list is not
// available.
func (k *Kind) Unavailable(err error) *mcp.Error {
	return mcp.Errorf(cmp.Or(k.code, mcp.CodeInternal), "%s", k.message).WithReason(err)
}

// EntryFault returns the reason why a declared entry is invalid for the kind, or "".
func (k *Kind) EntryFault(entry json.RawMessage) string {
	if rawjson.KindOf(entry) != rawjson.Object {
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

// An Assembly combines the discovered and the declared items of a kind into a list.
type Assembly struct {
	Project    *project.Project
	Kind       *Kind
	Discovered bool             // the trees were scanned; declared items are added to Found
	Found      []item.Candidate // the discovered items
	Declared   *Declared        // nil: the project declares no items of the kind
	After      []item.Item      // the list of Kind.After
	Messages   []item.Message   // filled by Items
}

// Declared are the items of one kind that register.json or register.sh declares.
type Declared struct {
	Found []item.Candidate
	// Hidden are the names, ids and paths of invalid entries. A discovered item that such an entry would replace is not
	// offered.
	Hidden []item.Candidate
	Sorted bool // sort by name, else keep the order of the entries
}

func (a *Assembly) log(m item.Message) { a.Messages = append(a.Messages, m) }

func (a *Assembly) at(f item.Candidate) item.Place {
	return item.Place{File: a.Kind.Label(a.Project, f)}
}

// Items returns the items of the list.
func (a *Assembly) Items() []item.Candidate {
	if a.Kind.combine != nil {
		return a.Kind.combine(a)
	}
	return a.standard()
}

// standard returns the items of most kinds. Declared items replace all discovered items,
// or only those of the same name, id or path.
func (a *Assembly) standard() []item.Candidate {
	if a.Declared == nil {
		return a.distinct(a.Found)
	}
	items := a.unique(slices.Clone(a.Declared.Found))
	if a.Discovered {
		return a.distinct(overlay(a.Found, items, a.Declared.Hidden))
	}
	if a.Declared.Sorted {
		slices.SortStableFunc(items, byName)
	}
	return items
}

// unclaimed returns the discovered items, without the files that metadata in another place has assigned to another
// item.
func (a *Assembly) unclaimed() []item.Candidate {
	var claimed map[string]bool
	for i := range a.Found {
		if a.Found[i].Claim {
			if claimed == nil {
				claimed = make(map[string]bool)
			}
			claimed[a.Found[i].Path] = true
		}
	}
	if claimed == nil {
		return a.Found
	}
	return slices.DeleteFunc(a.Found, func(f item.Candidate) bool { return !f.Claim && claimed[f.Path] })
}

// distinct sorts items by name and drops duplicates of a name or id. The first item in the order of trees and paths
// stays.
func (a *Assembly) distinct(list []item.Candidate) []item.Candidate {
	slices.SortStableFunc(list, byName)
	kept := list[:0]
	ids := false
	for _, f := range list {
		if n := len(kept); n > 0 && kept[n-1].Name == f.Name {
			a.duplicate("name", f.Name, f, kept[n-1])
			continue
		}
		kept = append(kept, f)
		ids = ids || f.ID != f.Name
	}
	if !ids {
		return kept
	}
	order := slices.Clone(kept)
	slices.SortStableFunc(order, func(a, b item.Candidate) int { return strings.Compare(a.Path, b.Path) })
	taken, dropped := make(map[string]item.Candidate, len(kept)), make(map[string]bool)
	for _, f := range order {
		if first, ok := taken[f.ID]; ok {
			a.duplicate("id", f.ID, f, first)
			dropped[f.Name] = true
			continue
		}
		taken[f.ID] = f
	}
	return slices.DeleteFunc(kept, func(f item.Candidate) bool { return dropped[f.Name] })
}

// byName orders items by name, then by tree and path.
func byName(a, b item.Candidate) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), a.Tree-b.Tree, strings.Compare(a.Path, b.Path))
}

// unique drops duplicates of a name or id, and keeps the order of the other items.
func (a *Assembly) unique(list []item.Candidate) []item.Candidate {
	names, ids := make(map[string]item.Candidate, len(list)), make(map[string]item.Candidate, len(list))
	kept := list[:0]
	for _, f := range list {
		if first, taken := names[f.Name]; taken {
			a.duplicate("name", f.Name, f, first)
			continue
		}
		if first, taken := ids[f.ID]; taken && f.ID != "" {
			a.duplicate("id", f.ID, f, first)
			continue
		}
		names[f.Name], ids[f.ID] = f, f
		kept = append(kept, f)
	}
	return kept
}

func (a *Assembly) duplicate(what, value string, dropped, kept item.Candidate) {
	at, first := a.at(dropped), a.at(kept)
	a.log(item.Message{
		Level: mcp.Warning, Topic: item.Duplicate, At: at,
		Text:   fmt.Sprintf("Duplicate %s %s '%s'; keeping %s", a.Kind.Noun, what, value, first),
		Logged: fmt.Sprintf("Duplicate %s %s '%s' in %s; keeping %s", a.Kind.Noun, what, value, at, first),
	})
}

// overlay returns all items of over. It adds the items of under that share no name, id or path with items of over or
// hidden.
func overlay(under, over, hidden []item.Candidate) []item.Candidate {
	names, ids, paths := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, f := range slices.Concat(over, hidden) {
		names[f.Name], ids[f.ID] = true, true
		if f.Path != "" {
			paths[path.Clean(f.Path)] = true
		}
	}
	result := slices.Clone(over)
	for _, f := range under {
		if !names[f.Name] && !paths[f.Path] && (f.ID == "" || !ids[f.ID]) {
			result = append(result, f)
		}
	}
	return result
}

// Without returns the items that have none of the names as their name or id.
func Without(list []item.Candidate, names []string) []item.Candidate {
	if len(names) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(f item.Candidate) bool {
		return slices.Contains(names, f.Name) || slices.Contains(names, f.ID)
	})
}
