package kinds

import (
	"slices"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
)

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
	// Hidden are the names, ids and paths of invalid entries. A discovered item that such
	// an entry would replace is not offered.
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

// unclaimed returns the discovered items, without the files that metadata in another place
// has assigned to another item.
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
