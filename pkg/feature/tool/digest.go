package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
)

// digests remembers hashes of tools for the record, so that a call of an unchanged tool reads no file. It is safe for
// concurrent use.
type digests struct {
	mu sync.Mutex
	of map[string]*digest // by the path of the script
}

type digest struct {
	stamp folder.Stamp // of the script
	read  time.Time
	item  json.RawMessage // the metadata

	script, metadata events.Hash
}

const (
	maxDigests = 4096
	maxHashed  = 4 << 20 // bytes of a script
)

// fill gives the record the hashes of a script, which may be a link, and of its metadata.
func (d *digests) fill(w *events.Work, script string, item json.RawMessage) {
	stamp := folder.StampOfPath(script)
	if file := script; !stamp.Mode.IsRegular() {
		if file, _ = filepath.EvalSymlinks(file); file != "" {
			stamp = folder.StampOfPath(file)
		}
	}
	d.mu.Lock()
	of := d.of[script]
	d.mu.Unlock()
	if of == nil || of.stamp != stamp || !stamp.Settled(of.read) || !bytes.Equal(of.item, item) {
		of = &digest{stamp: stamp, read: time.Now(), item: item, metadata: sha256.Sum256(item), script: hashFile(script)}
		d.mu.Lock()
		if d.of == nil || len(d.of) >= maxDigests {
			d.of = map[string]*digest{}
		}
		d.of[script] = of
		d.mu.Unlock()
	}
	w.Script, w.Metadata = of.script, of.metadata
}

// hashFile returns the hash of a file, or zero for one that is not regular, is too long or cannot be read.
func hashFile(path string) events.Hash {
	text, err := boundedfile.Read(path, maxHashed)
	if err != nil {
		return events.Hash{}
	}
	return sha256.Sum256(text)
}
