package git

import (
	"slices"
	"sync"

	"mcp-bash/pkg/provider/location"
)

// Limits of a cache: the number of files, and the size of one file in bytes.
const (
	cachedFiles = 16
	cachedBytes = 256 << 10
)

type cache struct {
	mu    sync.Mutex
	files []cached // most recent first
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
