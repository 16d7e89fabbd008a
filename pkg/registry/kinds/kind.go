package kinds

import (
	"encoding/json"
	"fmt"
	"path"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/scan"
)

// Kinds are the kinds of things a project offers, in the order in which they
// are refreshed, reported and notified. The rest of
// the package knows kinds only through their descriptors.
var All = []*Kind{Tools, Resources, Templates, Prompts, Completions, UIResources}

// A Kind describes one kind of thing: what it is called, and how its items are
// found and made. All its methods and fields are constant.
type Kind struct {
	Key    string // in register.json and in what the commands print
	File   string // its registry file
	Logger string
	Noun   string // "tool": of one item, in messages
	Name   string // "Tool registry": in the message of R-121

	// What a request for the list is answered when it is not available: see
	// [Kind.Unavailable].
	code    int
	message string

	FaultLevel mcp.Level // at which the faults of register.json are logged
	Plural     string    // "Tools": in the warning of R-122; "" for a kind that has none

	TTL func(*project.Discovery) time.Duration

	// trees are where items are found, the more important ones first; none: the
	// kind is only listed by hand.
	Trees []scan.Tree
	// entry makes an item of an entry of a handwritten list; nil: the kind cannot
	// be listed by hand.
	Build func(*item.Input) (item.Candidate, bool)
	// required are the fields without which an entry is left out.
	required []string
	// guarded: metadata that others could have written is none, since it decides
	// which script a name runs, and at which level.
	guarded bool
	// lays: handwritten items are always laid over found ones, and only an empty
	// list stands in their place.
	Overlays bool

	// combine makes the items of what was found and what was written by hand;
	// nil: [assembly.standard].
	combine func(*Assembly) []item.Candidate
	// after is a kind whose list combine wants to see; nil: none.
	After *Kind
}

// Spec says what is scanned for the kind.
func (k *Kind) Spec() scan.Spec {
	return scan.Spec{Name: k.Key, Noun: k.Noun, FaultLevel: k.FaultLevel, Guarded: k.guarded, Trees: k.Trees}
}

// ContentDir is the directory that the paths of items are relative to.
func (k *Kind) ContentDir(p *project.Project) string {
	if len(k.Trees) == 0 {
		return p.Root
	}
	return k.Trees[0].Dir(p)
}

// Label names what something was found in for people.
func (k *Kind) Label(p *project.Project, f item.Candidate) string {
	dir := k.ContentDir(p)
	if f.Tree > 0 {
		dir = k.Trees[f.Tree].Dir(p)
	}
	return path.Join(folder.Label(p.Root, dir), f.Path)
}

// Unavailable is what a client is told whose request needs the list of this
// kind, when [Catalog.List] failed.
func (k *Kind) Unavailable(err error) *mcp.Error {
	return mcp.Errorf(k.code, "%s", k.message).WithReason(err)
}

// EntryFault says why an entry is no entry of the kind, "" when it may be one
//
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
