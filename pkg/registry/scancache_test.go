package registry

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/kinds"
)

func TestScanCacheIsUsed(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/b/tool.sh": "# mcp: {\"title\":5}",
		"server.d/server.meta.json": `{"name":"one"}`, "tools/a/ui/index.html": ""})
	b.tools()
	b.Log()
	cache := b.Read(".registry/.scan-tools")
	load := func() *scan.Result { s, _ := b.loadScan(kinds.Tools); return s }
	if load() == nil {
		t.Fatal("no scan")
	}
	b.reopen(nil, Options{})
	want(t, b.names(), "a b")
	b.WantLog(`warning mcp.tools: tools/b/tool.sh: "title" must be a string; ignored`) // as if it had looked
	want(t, b.Read(".registry/.scan-tools"), cache)

	// The name of the server is part of every link.
	b.Put(files{"server.d/server.meta.json": `{"name":"two"}`})
	b.reopen(nil, Options{})
	if load() != nil {
		t.Error("took the scan of a server of another name")
	}
	if item := b.items()[0]; !strings.Contains(item, "ui://two/a") {
		t.Error(item)
	}
	// Another program may make other items of the same files.
	b.reopen(nil, Options{Version: "another"})
	if load() != nil {
		t.Error("took the scan of another version")
	}
	// A copy of the project is another project.
	b.Put(files{"tools2/a/tool.sh": ""})
	b.reopen(project.Env{"MCPBASH_TOOLS_DIR": b.Path("tools2")}, Options{})
	if load() != nil {
		t.Error("took the scan of another directory")
	}
}

func TestScanCacheBroken(t *testing.T) {
	for _, text := range []string{"", "rubbish", scanMagic, strings.Repeat("\x00", 1000),
		scanMagic + strings.Repeat("\xff", 1000)} {
		b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/.scan-tools": text})
		want(t, b.names(), "a")
		b.reopen(nil, Options{})
		if s, _ := b.loadScan(kinds.Tools); s == nil {
			t.Errorf("%.20q was not replaced", text)
		}
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/.scan-tools/": ""})
	want(t, b.names(), "a")
	b.WantLog()
}

// A cache from somebody else's archive: its sum is right, its list of names
// too, but it was made for another directory.
func TestScanCacheFromElsewhere(t *testing.T) {
	forger := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"name":"evil"}`})
	forged, err := scan.Run(t.Context(), forger.Project, kinds.Tools.Spec(), "", nil, forger.Now())
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	key := strings.Replace(scan.CacheKey(b.Project, kinds.Tools.Spec(), ""), "\x00"+b.Root, "\x00"+"/elsewhere", 1)
	b.Put(files{".registry/.scan-tools": string(scan.Encode(key, scan.Mark{}, forged))})
	want(t, b.names(), "a")
}

// In memory, a list that has not changed is the same list.
func TestListsAreKept(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	first := b.tools()
	if b.tools() != first {
		t.Error("another list")
	}
	b.Put(files{"tools/a/tool.sh": "# nothing of interest"})
	if b.tools() != first {
		t.Error("another list of the same content")
	}
	b.Put(files{"tools/a/tool.meta.json": `{"description":"x"}`})
	b.Advance(time.Second)
	second := b.tools()
	if second == first || second.Hash == first.Hash {
		t.Error("the same list")
	}
	if !bytes.Contains(second.Items[0].JSON, []byte(`"x"`)) || bytes.Contains(first.Items[0].JSON, []byte(`"x"`)) {
		t.Error("the first list was changed")
	}
	if got, ok := second.Find("a"); !ok || !reflect.DeepEqual(got, second.Items[0]) {
		t.Errorf("found %+v", got)
	}
	if _, ok := second.Find("b"); ok {
		t.Error("found what is not there")
	}
}
