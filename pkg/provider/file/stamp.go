package file

import (
	"os"
	"time"

	"mcp-bash/pkg/provider"
)

// settled is the minimum age of a change. Two changes within the resolution of a file system's
// clock have equal times. settled is more than that resolution.
const settled = 2 * time.Second

// Stamp returns the stamp of a file without opening the file. ok is false for recent changes and
// for empty files, because files of /proc report size 0. Stamp does not check the roots: the caller
// uses it only to decide whether to call Read.
func (p *Provider) Stamp(uri string) (s provider.Stamp, ok bool) {
	list, plain, err := names(uri, p.Dir)
	if err != nil || plain > 0 || !onVolumeOf(p.Roots(), list[0]) {
		return s, false
	}
	info, err := os.Stat(list[0])
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return s, false
	}
	s = provider.Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	identify(&s, info)
	age := time.Since(time.Unix(0, max(s.Modified, s.Changed)))
	return s, age > settled
}
