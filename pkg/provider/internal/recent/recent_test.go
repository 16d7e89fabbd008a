package recent

import (
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	c := Cache[string, int]{Max: 2}
	c.Put("a", 1)
	c.Put("b", 2)
	if v, ok := c.Get("a"); v != 1 || !ok {
		t.Error(v, ok)
	}
	c.Put("c", 3)
	if _, ok := c.Get("b"); ok {
		t.Error("the value that was used before the others is still there")
	}
	c.Put("a", 4)
	if v, ok := c.Get("a"); v != 4 || !ok || len(c.list) != 2 {
		t.Error(v, ok, c.list)
	}
	var none Cache[string, int]
	none.Put("a", 1)
	if _, ok := none.Get("a"); ok {
		t.Error("a cache of none keeps a value")
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 100 {
				c.Put("x", i)
				c.Get("c")
			}
		})
	}
	group.Wait()
}
