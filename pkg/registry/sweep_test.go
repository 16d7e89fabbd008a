package registry

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// what a program that was killed left half-written is removed by
// the next refresh, also where nothing has to be written, and nothing else is.
func TestSweep(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.refresh("")
	before := b.files()
	b.put(files{".registry/tools.json.tmp-1-0a": "{", ".registry/.scan-tools.tmp-1-0b": "", ".registry/.scan-ui-resources.tmp-1-0c": "", ".registry/x.tmp-d/y": ""})
	old := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(b.path(".registry/.scan-tools.tmp-1-0b"), old, old); err != nil {
		t.Fatal(err)
	}
	b.refresh("")
	left, _ := filepath.Glob(b.path(".registry/*.tmp-*"))
	if len(left) != 2 || left[0] != b.path(".registry/.scan-ui-resources.tmp-1-0c") || left[1] != b.path(".registry/x.tmp-d") {
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
	b.put(files{".registry/tools.json.tmp-1-0a": "{"})
	b.refresh("")
	if !stampOfPath(b.path(".registry/tools.json.tmp-1-0a")).exists() {
		t.Error("it was removed under the writer")
	}
	unlock()
	b.refresh("")
	if stampOfPath(b.path(".registry/tools.json.tmp-1-0a")).exists() {
		t.Error("it was left")
	}
}

// likewise in server.d, by whoever registers next.
func TestSweepOfServerDir(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": "", "server.d/.register.json.tmp-1-0a": "{", "server.d/register.json.tmp-mine": ""})
	if err := b.project(nil).RegisterTool(ToolRegistration{Name: "x", Path: "a/tool.sh"}); err != nil {
		t.Fatal(err)
	}
	if stampOfPath(b.path("server.d/.register.json.tmp-1-0a")).exists() || !stampOfPath(b.path("server.d/register.json.tmp-mine")).exists() {
		t.Error("not the one that was left half-written")
	}
}
