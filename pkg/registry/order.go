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
// name or id is taken: the first in the order of paths stays (registry R-38,
//
func (k *Kind) distinct(list []found, label string, say func(message)) []found {
	slices.SortStableFunc(list, byName)
	kept := list[:0]
	ids := false
	for _, f := range list {
		if n := len(kept); n > 0 && kept[n-1].Name == f.Name {
			say(k.duplicate("name", f.Name, f, kept[n-1], label))
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
			say(k.duplicate("id", f.id, *f, *first, label))
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
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.path, b.path))
}

// unique drops items whose name or id is taken and leaves the others in their
// order.
func (k *Kind) unique(list []found, label string, say func(message)) []found {
	names, ids := make(map[string]found, len(list)), make(map[string]found, len(list))
	kept := list[:0]
	for _, f := range list {
		if first, taken := names[f.Name]; taken {
			say(k.duplicate("name", f.Name, f, first, label))
			continue
		}
		if first, taken := ids[f.id]; taken && f.id != "" {
			say(k.duplicate("id", f.id, f, first, label))
			continue
		}
		names[f.Name], ids[f.id] = f, f
		kept = append(kept, f)
	}
	return kept
}

func (k *Kind) duplicate(what, value string, dropped, kept found, label string) message {
	return message{mcp.Warning, fmt.Sprintf("Duplicate %s %s '%s' in %s; keeping %s",
		strings.ToLower(k.Noun), what, value, path.Join(label, dropped.path), path.Join(label, kept.path))}
}

// overlay lays handwritten items over found ones: each takes the place of
// those with its name or its path.
func overlay(under, over []found) []found {
	names, paths := make(map[string]bool, len(over)), make(map[string]bool, len(over))
	for _, f := range over {
		names[f.Name] = true
		if f.path != "" {
			paths[path.Clean(f.path)] = true
		}
	}
	result := slices.Clone(over)
	for _, f := range under {
		if !names[f.Name] && !paths[f.path] {
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
