package registry

import (
	"slices"

	"mcp-bash/pkg/project"
)

// An assembly is a list in the making, with all it is made of at hand.
type assembly struct {
	p          *project.Project
	kind       *Kind
	discovered bool // the trees were walked
	found      []found
	manual     *manualScan // nil: nobody wrote a list by hand
	after      *List       // of the kind that comes before; nil: none, or not available
	said       []message
}

func (a *assembly) say(m message) { a.said = append(a.said, m) }

// standard is what most kinds do: handwritten items stand in the place of those
// found, or are laid over them.
func (a *assembly) standard() []found {
	if a.manual == nil {
		return a.distinct(a.found)
	}
	items := a.unique(slices.Clone(a.manual.found))
	if a.discovered {
		return a.distinct(overlay(a.found, items, a.manual.hidden))
	}
	if a.manual.from.sorted {
		slices.SortStableFunc(items, byName)
	}
	return items
}

// unclaimed leaves out what was found at a path that metadata elsewhere has
// given to another item.
func (a *assembly) unclaimed() []found {
	var claimed map[string]bool
	for i := range a.found {
		if a.found[i].claim {
			if claimed == nil {
				claimed = make(map[string]bool)
			}
			claimed[a.found[i].path] = true
		}
	}
	if claimed == nil {
		return a.found
	}
	return slices.DeleteFunc(a.found, func(f found) bool { return !f.claim && claimed[f.path] })
}
