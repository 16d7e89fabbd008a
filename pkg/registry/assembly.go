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
	declared   *declaredItems // nil: nobody declared any
	after      []Item         // of the kind that comes before
	said       []message
}

// declaredItems are the items that a project declares, in register.json or by register.sh.
type declaredItems struct {
	found []found
	// hidden are what left out entries are known by: as long as an entry is faulty, what
	// it was to take the place of is not offered in its stead.
	hidden []found
	sorted bool // by R-39; else the order of the entries is kept
}

func (a *assembly) say(m message) { a.said = append(a.said, m) }

// items makes the items of the list.
func (a *assembly) items() []found {
	if a.kind.combine != nil {
		return a.kind.combine(a)
	}
	return a.standard()
}

// standard is what most kinds do: handwritten items stand in the place of those
// found, or are laid over them.
func (a *assembly) standard() []found {
	if a.declared == nil {
		return a.distinct(a.found)
	}
	items := a.unique(slices.Clone(a.declared.found))
	if a.discovered {
		return a.distinct(overlay(a.found, items, a.declared.hidden))
	}
	if a.declared.sorted {
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
