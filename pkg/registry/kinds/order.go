package kinds

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// distinct sorts items by name and drops duplicates of a name or id. The first item in the
// order of trees and paths stays.
func (a *Assembly) distinct(list []item.Candidate) []item.Candidate {
	slices.SortStableFunc(list, byName)
	kept := list[:0]
	ids := false
	for _, f := range list {
		if n := len(kept); n > 0 && kept[n-1].Name == f.Name {
			a.duplicate("name", f.Name, f, kept[n-1])
			continue
		}
		kept = append(kept, f)
		ids = ids || f.ID != f.Name
	}
	if !ids {
		return kept
	}
	order := make([]*item.Candidate, len(kept))
	for i := range kept {
		order[i] = &kept[i]
	}
	slices.SortStableFunc(order, func(a, b *item.Candidate) int { return strings.Compare(a.Path, b.Path) })
	taken := make(map[string]*item.Candidate, len(kept))
	dropped := make(map[*item.Candidate]bool)
	for _, f := range order {
		if first := taken[f.ID]; first != nil {
			a.duplicate("id", f.ID, *f, *first)
			dropped[f] = true
			continue
		}
		taken[f.ID] = f
	}
	result := make([]item.Candidate, 0, len(kept))
	for i := range kept {
		if !dropped[&kept[i]] {
			result = append(result, kept[i])
		}
	}
	return result
}

// byName orders items by name, then by tree and path.
func byName(a, b item.Candidate) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), a.Tree-b.Tree, strings.Compare(a.Path, b.Path))
}

// unique drops duplicates of a name or id, and keeps the order of the other items (R-142,
//
func (a *Assembly) unique(list []item.Candidate) []item.Candidate {
	names, ids := make(map[string]item.Candidate, len(list)), make(map[string]item.Candidate, len(list))
	kept := list[:0]
	for _, f := range list {
		if first, taken := names[f.Name]; taken {
			a.duplicate("name", f.Name, f, first)
			continue
		}
		if first, taken := ids[f.ID]; taken && f.ID != "" {
			a.duplicate("id", f.ID, f, first)
			continue
		}
		names[f.Name], ids[f.ID] = f, f
		kept = append(kept, f)
	}
	return kept
}

func (a *Assembly) duplicate(what, value string, dropped, kept item.Candidate) {
	at, first := a.at(dropped), a.at(kept)
	a.log(item.Message{
		Level: mcp.Warning, Topic: item.Duplicate, At: at,
		Text:   fmt.Sprintf("Duplicate %s %s '%s'; keeping %s", a.Kind.Noun, what, value, first),
		Logged: fmt.Sprintf("Duplicate %s %s '%s' in %s; keeping %s", a.Kind.Noun, what, value, at, first),
	})
}

// overlay returns all items of over. It adds the items of under that share no name, id or
// path with items of over or hidden.
func overlay(under, over, hidden []item.Candidate) []item.Candidate {
	names, ids, paths := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, f := range slices.Concat(over, hidden) {
		names[f.Name], ids[f.ID] = true, true
		if f.Path != "" {
			paths[path.Clean(f.Path)] = true
		}
	}
	result := slices.Clone(over)
	for _, f := range under {
		if !names[f.Name] && !paths[f.Path] && (f.ID == "" || !ids[f.ID]) {
			result = append(result, f)
		}
	}
	return result
}

// Without returns the items that have none of the names as their name or id.
func Without(list []item.Candidate, names []string) []item.Candidate {
	if len(names) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(f item.Candidate) bool {
		return slices.Contains(names, f.Name) || slices.Contains(names, f.ID)
	})
}
