// Package filecache reads files whose paths contain no symbolic link, with few system calls. It keeps the texts of
// small files for a short time.
package filecache

import (
	"sync"
	"time"

	"mcp-bash/pkg/files/folder"
)

// A Cache reads files. It is safe for concurrent use. A nil Cache keeps no texts.
type Cache struct {
	now   func() time.Time
	mu    sync.Mutex
	texts map[string]kept // by path
	bytes int             // of all texts and their paths
}

// A kept is a text with the stamp of its file.
type kept struct {
	text  []byte
	stamp folder.Stamp
	until time.Time
}

// New returns an empty cache.
func New() *Cache { return &Cache{now: time.Now, texts: map[string]kept{}} }

const (
	mostKept  = 64 << 10 // bytes of a text
	mostBytes = 1 << 20  // bytes of all texts
	// keepFor is how long a text is kept, because file systems record a change through a memory mapping late, or never.
	keepFor = time.Second
)

// find returns the text that was kept for a path, and its stamp.
func (c *Cache) find(path string) (kept, bool) {
	if c == nil {
		return kept{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.texts[path]
	return k, ok && c.now().Before(k.until)
}

// keep keeps the text of a file. The stamp is settled and was taken before the text was read, so any later change
// changes the stamp.
func (c *Cache) keep(path string, text []byte, stamp folder.Stamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(path) + len(text)
	if old, ok := c.texts[path]; ok {
		c.bytes -= len(path) + len(old.text)
	}
	if c.bytes += size; c.bytes > mostBytes {
		clear(c.texts)
		c.bytes = size
	}
	c.texts[path] = kept{text, stamp, c.now().Add(keepFor)}
}
