package registry

import (
	"testing"

	"mcp-bash/pkg/files/folder"
)

// a refresh removes the partial files of killed programs, also if no registry file changes. It removes nothing
// else.
func TestSweep(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.refresh("")
	before := b.files()
	b.Put(files{".registry/tools.json.tmp-1-0a": "{"})
	b.refresh("")
	want(t, b.files(), before)

	b.Put(files{".registry/x.tmp-d/y": "", "secret": "", ".registry/ui.json.tmp-1-0a@": "../secret"})
	before = b.files()
	b.refresh("")
	want(t, b.files(), before)
	want(t, b.Read("secret"), "")
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
