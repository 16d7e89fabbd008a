package tomledit

import "github.com/pelletier/go-toml/v2/unstable"

// maxKeys is how many keys a file may have: parts of dotted keys and headers, and tables and arrays in values, count.
// The decoder compares each key with all before it, so that its work is at most half the square of this (CLI-711).
const maxKeys = 5000

// keysIn returns how many keys an expression or a value has, for the decoder.
func keysIn(n *unstable.Node) (count int) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable, unstable.KeyValue:
		for it := n.Key(); it.Next(); {
			count++
		}
		if n.Kind == unstable.KeyValue {
			count += keysIn(n.Value())
		}
	case unstable.InlineTable, unstable.Array:
		count = 1
		for it := n.Children(); it.Next(); {
			count += keysIn(it.Node())
		}
	}
	return count
}
