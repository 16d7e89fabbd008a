package registry

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mcp-bash/pkg/files/atomicfile"
)

// earlierCache begins the names of scan caches, which earlier versions wrote.
const earlierCache = ".scan-"

// sweep removes the partial files of killed programs and the scan caches of earlier
// versions. It holds the lock, so no program is writing one of these files. Files that
// cannot be removed stay until the next refresh.
func (s *store) sweep(ctx context.Context) {
	if s.check(s.dir) != nil {
		return
	}
	dir, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := fs.ReadDir(dir.FS(), ".")
	left := slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		removable := atomicfile.IsTemporary(e.Name()) || strings.HasPrefix(e.Name(), earlierCache)
		return !removable || !e.Type().IsRegular()
	})
	if len(left) == 0 {
		return
	}
	unlock, err := s.lock(ctx, dir, 0)
	if err != nil {
		return
	}
	defer unlock()
	for _, e := range left {
		dir.Remove(e.Name())
	}
}
