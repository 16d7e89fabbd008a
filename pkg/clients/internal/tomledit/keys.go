package tomledit

import "github.com/pelletier/go-toml/v2/unstable"

// maxKeys limits the number of keys in a file (CLI-711). Parts of dotted keys and headers count,
// and tables and arrays in values. The decoder compares each key with all previous keys, so its
// time is quadratic.
const maxKeys = 5000

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
