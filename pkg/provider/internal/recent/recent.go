// Package recent keeps the most recently used values.
package recent

import (
	"slices"
	"sync"
)

// A Cache keeps at most Max values. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	Max  int
	mu   sync.Mutex
	list []entry[K, V] // the most recent first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(e entry[K, V]) bool { return e.key == key })
	if i < 0 {
		return value, false
	}
	e := c.list[i]
	c.list = slices.Insert(slices.Delete(c.list, i, i+1), 0, e)
	return e.value, true
}

// Put sets the value of a key. It drops the value that was unused for the longest time.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(c.list, func(e entry[K, V]) bool { return e.key == key })
	list = slices.Insert(list, 0, entry[K, V]{key, value})
	c.list = slices.Delete(list, min(c.Max, len(list)), len(list))
}
