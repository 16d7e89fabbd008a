package registry

import (
	"encoding/json"
	"fmt"
	"path"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Kinds are the kinds of things a project offers, in the order in which they
// are refreshed, reported and notified. The rest of
// the package knows kinds only through their descriptors.
var Kinds = []*Kind{Tools, Resources, Templates, Prompts, Completions, UIResources}

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

	faults mcp.Level // at which the faults of register.json are logged
	crowd  string    // "Tools": in the warning of R-122; "" for a kind that has none

	ttl func(*project.Discovery) time.Duration

	// trees are where items are found, the more important ones first; none: the
	// kind is only listed by hand.
	trees []tree
	// entry makes an item of an entry of a handwritten list; nil: the kind cannot
	// be listed by hand.
	entry func(*subject) (found, bool)
	// required are the fields without which an entry is left out.
	required []string
	// guarded: metadata that others could have written is none, since it decides
	// which script a name runs, and at which level.
	guarded bool
	// lays: handwritten items are always laid over found ones, and only an empty
	// list stands in their place.
	lays bool

	// combine makes the items of what was found and what was written by hand;
	// nil: [assembly.standard].
	combine func(*assembly) []found
	// after is a kind whose list combine wants to see; nil: none.
	after *Kind
}

// spec says what is scanned for the kind.
func (k *Kind) spec() spec { return spec{k.Key, k.Noun, k.faults, k.guarded, k.trees} }

// content is the directory that the paths of items are relative to.
func (k *Kind) content(p *project.Project) string {
	if len(k.trees) == 0 {
		return p.Root
	}
	return k.trees[0].dir(p)
}

// shown names what something was found in for people.
func (k *Kind) shown(p *project.Project, f found) string {
	dir := k.content(p)
	if f.tree > 0 {
		dir = k.trees[f.tree].dir(p)
	}
	return path.Join(labelOf(p.Root, dir), f.path)
}

// Unavailable is what a client is told whose request needs the list of this
// kind, when [Catalog.List] failed.
func (k *Kind) Unavailable(err error) *mcp.Error {
	return mcp.Errorf(k.code, "%s", k.message).WithReason(err)
}

// entryFault says why an entry is no entry of the kind, "" when it may be one
//
func (k *Kind) entryFault(entry json.RawMessage) string {
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
