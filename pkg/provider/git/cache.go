package git

import (
	"slices"
	"sync"

	"mcp-bash/pkg/provider/location"
)

// What a cache holds at most: files, and bytes of one of them.
const (
	cachedFiles = 16
	cachedBytes = 256 << 10
)

// A cache keeps the files that were read last, with the commit they are of.
type cache struct {
	mu    sync.Mutex
	files []cached // the latest first
}

type cached struct {
	location.Git
	commit  string
	content []byte
}

func (c *cache) get(l location.Git, commit string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		if f.Git == l && f.commit == commit {
			return slices.Clone(f.content), true
		}
	}
	return nil, false
}

func (c *cache) put(l location.Git, commit string, content []byte) {
	if len(content) > cachedBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	files := []cached{{l, commit, slices.Clone(content)}}
	for _, f := range c.files {
		if f.Git != l && len(files) < cachedFiles {
			files = append(files, f)
		}
	}
	c.files = files
}
