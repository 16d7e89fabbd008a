package registry

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
)

// what a program that was killed left half-written is removed by
// the next refresh, also where nothing has to be written, and nothing else is.
func TestSweep(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.refresh("")
	before := b.files()
	b.Put(files{".registry/tools.json.tmp-1-0a": "{", ".registry/.scan-tools.tmp-1-0b": "",
		".registry/.scan-ui-resources.tmp-1-0c": "", ".registry/x.tmp-d/y": ""})
	old := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(b.Path(".registry/.scan-tools.tmp-1-0b"), old, old); err != nil {
		t.Fatal(err)
	}
	b.refresh("")
	left, _ := filepath.Glob(b.Path(".registry/*.tmp-*"))
	if len(left) != 2 || left[0] != b.Path(".registry/.scan-ui-resources.tmp-1-0c") || left[1] != b.Path(
		".registry/x.tmp-d") {
		t.Errorf("left: %q", left)
	}
	for _, name := range left {
		os.RemoveAll(name)
	}
	want(t, b.files(), before)
}

// while another program writes, its files are not touched.
func TestSweepUnderTheLock(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.refresh("")
	dir, err := b.store.open()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	unlock, err := b.store.lock(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.Put(files{".registry/tools.json.tmp-1-0a": "{"})
	b.refresh("")
	if !folder.StampOfPath(b.Path(".registry/tools.json.tmp-1-0a")).Exists() {
		t.Error("it was removed under the writer")
	}
	unlock()
	b.refresh("")
	if folder.StampOfPath(b.Path(".registry/tools.json.tmp-1-0a")).Exists() {
		t.Error("it was left")
	}
}
