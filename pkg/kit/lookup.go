package kit

import (
	"context"
	"encoding/json"
	"sync"

	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
)

// A Find looks up the registry entry that a text stands for in the current
// registry; nil when there is none (tools T-10). Its error is for the client.
type Find = func(ctx context.Context, text string) (json.RawMessage, error)

// Lookup looks items of a kind up by name.
func (k *Kit) Lookup(kind *registry.Kind) Find {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		list, err := k.Catalog.List(ctx, kind)
		if err != nil {
			return nil, kind.Unavailable(err)
		}
		item, _ := list.Find(name)
		return item.JSON, nil
	}
}

// lookupBy looks items of a kind up by something else that they have; the
// first of several counts.
func (k *Kit) lookupBy(kind *registry.Kind, keyOf func(item json.RawMessage) string) Find {
	var mu sync.Mutex
	var of *registry.List // what index was made of
	var index map[string]json.RawMessage
	return func(ctx context.Context, key string) (json.RawMessage, error) {
		list, err := k.Catalog.List(ctx, kind)
		if err != nil {
			return nil, kind.Unavailable(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if of != list {
			of, index = list, make(map[string]json.RawMessage, len(list.Items))
			for _, item := range list.Items {
				if key := keyOf(item.JSON); index[key] == nil {
					index[key] = item.JSON
				}
			}
		}
		return index[key], nil
	}
}

func (k *Kit) uriOf(item json.RawMessage) string { return registry.URI(k.Project, item) }

func templateOf(item json.RawMessage) string { return rawjson.TextOf(item, "uriTemplate") }
