package file

import (
	"os"
	"time"

	"mcp-bash/pkg/provider"
)

// settled is how old a file's last change must be for its time to tell it from
// a later one: more than the grain of any file system's clock.
const settled = 2 * time.Second

// Stamp looks at a file without opening it. It says nothing of files that
// changed a moment ago, nor of empty ones, for so the files of /proc look. It
// looks at whatever the name leads to, inside or not: its answer is no more
// than a reason to read, which has to pass the roots.
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
