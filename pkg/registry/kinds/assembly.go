package kinds

import (
	"slices"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
)

// An Assembly is what the items of a list are made of. Messages is filled on the
// way.
type Assembly struct {
	Project    *project.Project
	Kind       *Kind
	Discovered bool // the trees were scanned, so that declared items are added to those found
	Found      []item.Candidate
	Declared   *Declared   // nil: nobody declared any
	After      []item.Item // the list of Kind.After
	Messages   []item.Message
}

// Declared are the items of one kind that a project declares, in register.json or
// by register.sh.
type Declared struct {
	Found []item.Candidate
	// Hidden have only names, ids and paths: those of entries that are faulty. What such
	// an entry was to replace is not offered in its stead.
	Hidden []item.Candidate
	Sorted bool // by name; else the order of the entries is kept
}

func (a *Assembly) log(m item.Message) { a.Messages = append(a.Messages, m) }

// at returns the place where a candidate was found.
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

// standard returns the items of most kinds: declared ones in the place of those
// found, or laid over them.
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

// unclaimed returns what was found, but for files that metadata elsewhere has
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
