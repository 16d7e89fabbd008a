package registry

import "strings"

// A scan is kept from one process to the next in a file of the registry
// directory, .scan-<kind>. It can only save work, never decide anything: its
// records are used where a look at the directory confirms them, and a file
// that is damaged, of another version or about another project is no file.

func cacheFile(k *Kind) string { return ".scan-" + strings.TrimSuffix(k.File, ".json") }

// loadScan returns the scan of an earlier process, nil when there is none.
func (c *Catalog) loadScan(k *Kind) (*scan, mark) {
	text, _, err := c.store.bytes(cacheFile(k))
	if err != nil {
		return nil, mark{}
	}
	s, m, err := parseScan(text, cacheKey(c.p, k.spec(), c.o.Version), len(k.trees))
	if err != nil {
		return nil, mark{}
	}
	return s, m
}

// saveScan keeps what the last scan found for the next process. What goes wrong
// there only costs that process some time.
func (c *Catalog) saveScan(s *state) {
	if s.scan == nil {
		return
	}
	var m mark
	if s.inputs.pure() {
		m = s.mark
	}
	if c.o.ReadOnly || s.unkept != nil || s.scan.within != "" || !s.scan.unsaved && m == s.saved {
		return
	}
	file := c.newScanFile(s.kind)
	if file == nil {
		return
	}
	defer file.dir.Close()
	s.scan.settle(c.store.clock) // now that the file has shown what time it is there
	text := encodeScan(cacheKey(c.p, s.kind.spec(), c.o.Version), m, s.scan)
	if len(text) > c.store.limit {
		file.discard()
		return
	}
	if _, err := c.store.finish(file, text, false); err == nil {
		s.scan.unsaved = false
		s.cached, s.saved = nil, m
	}
}

func (c *Catalog) newScanFile(k *Kind) *newFile {
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
