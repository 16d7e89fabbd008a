// Package merge merges three versions of a file.
package merge

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Files merges three versions of a file: JSON by members, anything else by lines. base is the version that was
// generated before, mine contains the person's changes, and theirs is generated now. conflicts counts the places that
// both mine and theirs changed. The result has mine there.
func Files(name, base, mine, theirs string) (merged string, conflicts int) {
	if filepath.Ext(name) == ".json" {
		return mergeJSON(base, mine, theirs)
	}
	return mergeText(base, mine, theirs)
}

func mergeText(base, mine, theirs string) (merged string, conflicts int) {
	switch {
	case mine == base:
		return theirs, 0
	case theirs == base, theirs == mine:
		return mine, 0
	}
	b, m, t := lines(base), lines(mine), lines(theirs)
	toMine, toTheirs := matches(b, m), matches(b, t)
	var out strings.Builder
	i, j, k := 0, 0, 0
	for {
		// The next line of the base that mine and theirs still contain.
		at := i
		for at < len(b) && (toMine[at] < 0 || toTheirs[at] < 0) {
			at++
		}
		endMine, endTheirs := len(m), len(t)
		if at < len(b) {
			endMine, endTheirs = toMine[at], toTheirs[at]
		}
		old, own, new := b[i:at], m[j:endMine], t[k:endTheirs]
		switch {
		case slices.Equal(own, old):
			out.WriteString(strings.Join(new, ""))
		case slices.Equal(new, old), slices.Equal(new, own):
			out.WriteString(strings.Join(own, ""))
		default:
			conflicts++
			out.WriteString(strings.Join(own, ""))
		}
		if at == len(b) {
			return out.String(), conflicts
		}
		out.WriteString(b[at])
		i, j, k = at+1, endMine+1, endTheirs+1
	}
}

func lines(text string) []string { return strings.SplitAfter(text, "\n") }

// maxCells limits the table of matches. In larger texts, the lines in the middle do not match.
const maxCells = 16 << 20

// matches pairs the lines of two texts by a longest common subsequence. For each line of a
// it returns the index of the line of b, or -1.
func matches(a, b []string) []int {
	to := make([]int, len(a))
	for i := range to {
		to[i] = -1
	}
	first, lastA, lastB := 0, len(a), len(b)
	for first < lastA && first < lastB && a[first] == b[first] {
		to[first] = first
		first++
	}
	for lastA > first && lastB > first && a[lastA-1] == b[lastB-1] {
		lastA, lastB = lastA-1, lastB-1
		to[lastA] = lastB
	}
	a, b = a[first:lastA], b[first:lastB]
	width := len(b) + 1
	if (len(a)+1)*width > maxCells {
		return to
	}
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			to[first+i] = first + j
			i, j = i+1, j+1
		case table[(i+1)*width+j] >= table[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return to
}

// mergeJSON merges objects by members, in the order that mine has. Text that is not valid JSON is
// merged by lines.
func mergeJSON(base, mine, theirs string) (merged string, conflicts int) {
	if mine == base {
		return theirs, 0
	}
	var docs [3]json.RawMessage
	for i, text := range []string{base, mine, theirs} {
		doc, err := rawjson.Check([]byte(text))
		if err != nil || rawjson.KindOf(doc) != rawjson.Object {
			return mergeText(base, mine, theirs)
		}
		docs[i] = doc
	}
	if equal(docs[2], docs[0]) || equal(docs[2], docs[1]) {
		return mine, 0
	}
	value := mergeValue(docs[0], docs[1], docs[2], &conflicts)
	return string(rawjson.AppendIndent(nil, value, 0)) + "\n", conflicts
}

// mergeValue merges one value. nil means that the value is absent.
func mergeValue(base, mine, theirs json.RawMessage, conflicts *int) json.RawMessage {
	switch {
	case equal(mine, base):
		return theirs
	case equal(theirs, base), equal(theirs, mine):
		return mine
	case rawjson.KindOf(mine) != rawjson.Object || rawjson.KindOf(theirs) != rawjson.Object:
		*conflicts++
		return mine
	}
	if rawjson.KindOf(base) != rawjson.Object {
		base = json.RawMessage("{}")
	}
	var b rawjson.Builder
	b.Object()
	put := func(name string) {
		if v := mergeValue(rawjson.Get(base, name), rawjson.Get(mine, name), rawjson.Get(theirs, name), conflicts); v != nil {
			b.Name(name).Raw(v)
		}
	}
	for _, m := range rawjson.Members(mine) {
		put(m.Name)
	}
	for _, m := range rawjson.Members(theirs) {
		if rawjson.Get(mine, m.Name) == nil {
			put(m.Name)
		}
	}
	return b.End().Bytes()
}

func equal(a, b json.RawMessage) bool {
	return rawjson.Equal(rawjson.Normal(a), rawjson.Normal(b))
}

// Changed returns the lines that only one of two texts has, in their order. Lines of a begin with "- ", lines of b with
// "+ ".
func Changed(a, b string) (changed []string) {
	from, to := strings.Split(a, "\n"), strings.Split(b, "\n")
	if a == "" {
		from = nil
	}
	if b == "" {
		to = nil
	}
	next := 0
	for i, at := range append(matches(from, to), len(to)) {
		if at < 0 {
			changed = append(changed, "- "+from[i])
			continue
		}
		for ; next < at; next++ {
			changed = append(changed, "+ "+to[next])
		}
		next++
	}
	return changed
}
