package registry

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/mcp"
)

// distinct puts found items in the order of a registry and drops those whose
// name or id is taken: the first in the order of trees and paths stays (R-38,
//
func (a *assembly) distinct(list []found) []found {
	slices.SortStableFunc(list, byName)
	kept := list[:0]
	ids := false
	for _, f := range list {
		if n := len(kept); n > 0 && kept[n-1].Name == f.Name {
			a.duplicate("name", f.Name, f, kept[n-1])
			continue
		}
		kept = append(kept, f)
		ids = ids || f.id != f.Name
	}
	if !ids {
		return kept
	}
	order := make([]*found, len(kept))
	for i := range kept {
		order[i] = &kept[i]
	}
	slices.SortStableFunc(order, func(a, b *found) int { return strings.Compare(a.path, b.path) })
	taken := make(map[string]*found, len(kept))
	dropped := make(map[*found]bool)
	for _, f := range order {
		if first := taken[f.id]; first != nil {
			a.duplicate("id", f.id, *f, *first)
			dropped[f] = true
			continue
		}
		taken[f.id] = f
	}
	result := make([]found, 0, len(kept))
	for i := range kept {
		if !dropped[&kept[i]] {
			result = append(result, kept[i])
		}
	}
	return result
}

// byName is the order of discovered items.
func byName(a, b found) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), a.tree-b.tree, strings.Compare(a.path, b.path))
}

// unique drops items whose name or id is taken and leaves the others in their
// order.
func (a *assembly) unique(list []found) []found {
	names, ids := make(map[string]found, len(list)), make(map[string]found, len(list))
	kept := list[:0]
	for _, f := range list {
		if first, taken := names[f.Name]; taken {
			a.duplicate("name", f.Name, f, first)
			continue
		}
		if first, taken := ids[f.id]; taken && f.id != "" {
			a.duplicate("id", f.id, f, first)
			continue
		}
		names[f.Name], ids[f.id] = f, f
		kept = append(kept, f)
	}
	return kept
}

func (a *assembly) duplicate(what, value string, dropped, kept found) {
	a.say(message{mcp.Warning, fmt.Sprintf("Duplicate %s %s '%s' in %s; keeping %s",
		a.kind.Noun, what, value, a.kind.shown(a.p, dropped), a.kind.shown(a.p, kept))})
}

// overlay lays handwritten items over found ones: each takes the place of
// those with its name, its id or its path. Hidden ones take a place and
// put nothing there.
func overlay(under, over, hidden []found) []found {
	names, ids, paths := make(map[string]bool, len(over)), make(map[string]bool, len(over)), make(map[string]bool, len(over))
	for _, f := range slices.Concat(over, hidden) {
		names[f.Name], ids[f.id] = true, true
		if f.path != "" {
			paths[path.Clean(f.path)] = true
		}
	}
	result := slices.Clone(over)
	for _, f := range under {
		if !names[f.Name] && !paths[f.path] && (f.id == "" || !ids[f.id]) {
			result = append(result, f)
		}
	}
	return result
}

// without leaves out the items of some names or ids.
func without(list []found, names []string) []found {
	if len(names) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(f found) bool {
		return slices.Contains(names, f.Name) || slices.Contains(names, f.id)
	})
}
