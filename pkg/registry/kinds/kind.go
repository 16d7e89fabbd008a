package kinds

import (
	"encoding/json"
	"fmt"
	"path"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// All are the kinds, in the order in which they are refreshed, reported and
// notified.
var All = []*Kind{Tools, Resources, Templates, Prompts, Completions, UIResources}

// A Kind describes one kind of thing: what it is called, and how its items are
// found and built. It is constant.
type Kind struct {
	Key    string // in register.json and in what the commands print
	File   string // its registry file
	Logger string // of messages about it
	Noun   string // "tool": of one item, in messages
	Name   string // "Tool registry": in the message that its file is too large

	// The error for a request when the list is not available (see [Kind.Unavailable]).
	code    int
	message string

	FaultLevel mcp.Level // at which the faults of register.json are logged
	Plural     string    // "Tools": in the warning that there are many; "": none is given

	// TTL returns how long a list is valid before the project is looked at again
	//
	TTL func(*project.Discovery) time.Duration

	// Trees are where items are found, the more important ones first. A kind without
	// any is only declared.
	Trees []scan.Tree
	// Build builds an item of an entry of a declared list. A kind without cannot be
	// declared.
	Build func(*item.Input) (item.Candidate, bool)
	// required are the fields without which an entry is left out.
	required []string
	// guarded has metadata that other users could have written ignored.
	guarded bool
	// Overlays has declared items added to those found, not put in their place, unless
	// none are declared.
	Overlays bool

	// combine returns the items of a list; nil: [Assembly.standard] does.
	combine func(*Assembly) []item.Candidate
	// After is a kind whose list has to be made first, since combine needs it; nil:
	// none.
	After *Kind
}

// Spec returns what is scanned for the kind.
func (k *Kind) Spec() scan.Spec {
	return scan.Spec{Name: k.Key, Noun: k.Noun, FaultLevel: k.FaultLevel, Guarded: k.guarded, Trees: k.Trees}
}

// ContentDir returns the directory that the paths of items are relative to.
func (k *Kind) ContentDir(p *project.Project) string {
	if len(k.Trees) == 0 {
		return p.Root
	}
	return k.Trees[0].Dir(p)
}

// Label returns where a candidate was found, as messages name it.
func (k *Kind) Label(p *project.Project, f item.Candidate) string {
	dir := k.ContentDir(p)
	if f.Tree > 0 {
		dir = k.Trees[f.Tree].Dir(p)
	}
	return path.Join(folder.Label(p.Root, dir), f.Path)
}

// Unavailable returns the error for a request that needs the list of this kind when
// there is none, and why.
func (k *Kind) Unavailable(err error) *mcp.Error {
	return mcp.Errorf(k.code, "%s", k.message).WithReason(err)
}

// EntryFault returns why a declared entry cannot be one of the kind, "" when it may
// be.
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
