package kinds

import (
	"fmt"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
)

// An Assembly is a list in the making, with all it is made of at hand.
type Assembly struct {
	Project    *project.Project
	Kind       *Kind
	Discovered bool // the trees were walked
	Found      []item.Candidate
	Declared   *Declared   // nil: nobody declared any
	After      []item.Item // of the kind that comes before
	Messages   []item.Message
}

// Declared are the items that a project declares, in register.json or by register.sh.
type Declared struct {
	Found []item.Candidate
	// Hidden are what left out entries are known by: as long as an entry is faulty, what
	// it was to take the place of is not offered in its stead.
	Hidden []item.Candidate
	Sorted bool // by R-39; else the order of the entries is kept
}

func (a *Assembly) log(level mcp.Level, format string, args ...any) {
	a.Messages = append(a.Messages, item.Message{Level: level, Text: fmt.Sprintf(format, args...)})
}

// Items makes the items of the list.
func (a *Assembly) Items() []item.Candidate {
	if a.Kind.combine != nil {
		return a.Kind.combine(a)
	}
	return a.standard()
}

// standard is what most kinds do: handwritten items stand in the place of those
// found, or are laid over them.
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

// unclaimed leaves out what was found at a path that metadata elsewhere has
// given to another item.
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
