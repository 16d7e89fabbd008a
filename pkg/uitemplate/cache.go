package uitemplate

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// A Cache keeps the documents that were used most recently (RES-388). It may be
// used by several goroutines.
type Cache struct {
	most int

	mu    sync.Mutex
	order list.List // of cached, the latest in front
	known map[key]*list.Element
}

type key struct {
	name   string
	config [sha256.Size]byte
}

type cached struct {
	key      key
	document []byte
}

// NewCache returns a cache for so many documents; 0 keeps none.
func NewCache(most int) *Cache { return &Cache{most: most, known: map[key]*list.Element{}} }

// Render is [Render]. The document is shared: it is not to be changed.
func (c *Cache) Render(name string, config []byte) ([]byte, error) {
	if c.most <= 0 {
		return Render(name, config)
	}
	k := key{name, sha256.Sum256(config)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.known[k]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(cached).document, nil
	}
	document, err := Render(name, config)
	if err != nil {
		return nil, err
	}
	if c.order.Len() == c.most {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.known, oldest.Value.(cached).key)
	}
	c.known[k] = c.order.PushFront(cached{k, document})
	return document, nil
}
