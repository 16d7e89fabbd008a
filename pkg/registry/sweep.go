package registry

import (
	"context"
	"os"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/folder"
)

// abandoned is the age at which a half-written scan cache is removed. It is written
// without the lock, and who loses one loses nothing but time.
const abandoned = time.Minute

// sweep removes half-written files of programs that were killed. Registry files are
// written under the lock, so whoever holds it knows that nobody is writing one. What
// cannot be removed is left for the next time.
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
