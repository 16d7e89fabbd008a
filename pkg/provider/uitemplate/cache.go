package uitemplate

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// A Cache keeps the documents that were used most recently (RES-388). It is safe for
// concurrent use.
type Cache struct {
	limit int

	mu    sync.Mutex
	order list.List // of cached, the most recent first
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

// NewCache returns a cache for at most limit documents. With 0, it keeps no documents.
func NewCache(limit int) *Cache { return &Cache{limit: limit, known: map[key]*list.Element{}} }

// Render is [Render] with a cache. The caller must not change the document, which is shared.
func (c *Cache) Render(name string, config []byte) ([]byte, error) {
	if c.limit <= 0 {
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
	if c.order.Len() == c.limit {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.known, oldest.Value.(cached).key)
	}
	c.known[k] = c.order.PushFront(cached{k, document})
	return document, nil
}
