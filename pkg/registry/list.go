package registry

import (
	"encoding/json"
	"sync"

	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// A List contains the items of one kind. It is immutable. A [Catalog] returns the same List
// until the content changes, so its address can be the key of a cache.
type List struct {
	Kind  *kinds.Kind
	Items []item.Item // in the order of R-39, or of register.json
	Hash  string

	once   sync.Once
	byName map[string]int32
}

// Find returns the first item with a name (T-10).
func (l *List) Find(name string) (entry item.Item, ok bool) {
	l.once.Do(func() {
		l.byName = make(map[string]int32, len(l.Items))
		for i := len(l.Items) - 1; i >= 0; i-- {
			l.byName[l.Items[i].Name] = int32(i)
		}
	})
	at, ok := l.byName[name]
	if !ok || name == "" {
		return item.Item{}, false
	}
	return l.Items[at], true
}

// JSON returns the JSON of all items.
func (l *List) JSON() []json.RawMessage {
	list := make([]json.RawMessage, len(l.Items))
	for i := range l.Items {
		list[i] = l.Items[i].JSON
	}
	return list
}
