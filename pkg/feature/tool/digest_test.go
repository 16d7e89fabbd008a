package tool

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
)

// AUD-19: a line has the hashes of the script that a link leads to, and of the metadata. A script is read again when it
// has changed.
func TestDigests(t *testing.T) {
	dir := t.TempDir()
	script, link := filepath.Join(dir, "a.sh"), filepath.Join(dir, "link.sh")
	past := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		past = past.Add(time.Minute)
		if err := os.Chtimes(script, past, past); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	linked := os.Symlink(script, link) == nil // Windows may forbid that
	var d digests
	check := func(text string) {
		t.Helper()
		for _, file := range []string{script, link} {
			if file == link && !linked {
				continue
			}
			for _, item := range []string{`{"a":1}`, `{"a":2}`} {
				var w events.Work
				d.fill(&w, file, json.RawMessage(item))
				if w.Script != sha256.Sum256([]byte(text)) || w.Metadata != sha256.Sum256([]byte(item)) {
					t.Errorf("%s %s: %v %v", file, item, w.Script, w.Metadata)
				}
			}
		}
	}
	check("one")
	write("two, which is longer")
	check("two, which is longer")
	write(strings.Repeat("x", maxHashed))
	check(strings.Repeat("x", maxHashed))
	write(strings.Repeat("x", maxHashed+1))
	var w events.Work
	if d.fill(&w, script, nil); w.Script != (events.Hash{}) {
		t.Error(w.Script)
	}
	if d.fill(&w, filepath.Join(dir, "none"), nil); w.Script != (events.Hash{}) {
		t.Error(w.Script)
	}
}
