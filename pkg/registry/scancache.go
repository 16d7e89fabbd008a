package registry

import (
	"strings"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/kinds"
)

// The last scan of a kind is kept for the next process in a file of the registry
// directory, .scan-<kind>: see package [scan].

func cacheFile(k *kinds.Kind) string { return ".scan-" + strings.TrimSuffix(k.File, ".json") }

// loadScan returns the scan of an earlier process, nil when there is none.
func (c *Catalog) loadScan(k *kinds.Kind) (*scan.Result, scan.Mark) {
	text, _, err := c.store.bytes(cacheFile(k))
	if err != nil {
		return nil, scan.Mark{}
	}
	s, m, err := scan.Decode(text, scan.CacheKey(c.p, k.Spec(), c.o.Version), len(k.Trees))
	if err != nil {
		return nil, scan.Mark{}
	}
	return s, m
}

// saveScan writes the last scan to the scan cache. What goes wrong there only costs the
// next process some time.
func (c *Catalog) saveScan(s *state) {
	if s.scan == nil {
		return
	}
	var m scan.Mark
	if s.inputs.pure() {
		m = s.fileMark
	}
	if c.o.ReadOnly || s.unsaved != nil || s.scan.Within != "" || !s.scan.Unsaved && m == s.cacheMark {
		return
	}
	file := c.newScanFile(s.kind)
	if file == nil {
		return
	}
	defer file.Dir.Close()
	s.scan.Settle(c.store.clock) // now that the file has shown what time it is there
	text := scan.Encode(scan.CacheKey(c.p, s.kind.Spec(), c.o.Version), m, s.scan)
	if len(text) > c.store.limit {
		file.Discard()
		return
	}
	if _, err := c.store.finish(file, text, false); err == nil {
		s.scan.Unsaved = false
		s.cached, s.cacheMark = nil, m
	}
}

func (c *Catalog) newScanFile(k *kinds.Kind) *atomicfile.File {
	dir, err := c.store.open()
	if err != nil {
		return nil
	}
	file, err := c.store.create(dir, cacheFile(k))
	if err != nil {
		dir.Close()
		return nil
	}
	return file
}
