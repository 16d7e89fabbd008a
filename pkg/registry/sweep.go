package registry

import (
	"context"
	"os"
	"time"

	"mcp-bash/pkg/registry/atomicfile"
	"mcp-bash/pkg/registry/folder"
)

// abandoned is how long a half-written scan cache is left alone. It is written
// without the lock; whoever loses one loses nothing but time.
const abandoned = time.Minute

// sweep removes what programs left half-written that were killed (registry
// Registry files are written under the lock, so who holds it knows that
// nobody is at work on one. What goes wrong is left for the next time.
func (s *store) sweep(ctx context.Context) {
	if s.check(s.dir) != nil {
		return
	}
	dir, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	left := atomicfile.Leftovers(dir, "")
	if len(left) == 0 {
		return
	}
	unlock, err := s.lock(ctx, dir, 0)
	if err != nil {
		return
	}
	defer unlock()
	for _, name := range left {
		info, err := dir.Lstat(name)
		if err == nil && info.Mode().IsRegular() && (!folder.Hidden(name) || time.Since(info.ModTime()) > abandoned) {
			dir.Remove(name)
		}
	}
}
