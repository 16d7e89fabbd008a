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

// A Kind describes one kind of item: its names, and how items are found and built. It is
// constant.
type Kind struct {
	Key    string // in register.json and in the output of commands
	File   string // the registry file
	Logger string // of messages about the kind
	Noun   string // "tool": one item, in messages
	Name   string // "Tool registry": in the message that the registry file is too large

	// The error for a request when the list is not available (see [Kind.Unavailable]).
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
	// Overlays adds declared items to discovered ones. Without it, a non-empty list of
	// declared items replaces the discovered ones.
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

// Unavailable returns the error for a request that needs the list of this kind. err is the
// reason why the list is not available.
func (k *Kind) Unavailable(err error) *mcp.Error {
	return mcp.Errorf(k.code, "%s", k.message).WithReason(err)
}

// EntryFault returns the reason why a declared entry is invalid for the kind, or ""
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
