package registry

import (
	"bytes"
	"crypto/sha256"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
)

var someScan = &scan{records: []record{
	{path: "", entries: []entry{{"a", true}, {"b", false}}},
	{path: "a", unsure: true,
		entries: []entry{{"tool.meta.json", false}, {"tool.sh", false}},
		notes: []note{
			{"tool.sh", "", stamp{1, 2, 3, 0o755, -5, 1 << 60}},
			{"/icons/x", "/real/icons/x", stamp{dev: ^uint64(0), mode: os.ModeIrregular}},
			{name: "ui/index.html"},
		},
		said:  []message{{mcp.Warning, "w"}, {mcp.Err, "e\n"}},
		found: []found{{Item: Item{"n", []byte(`{"name":"n"}`)}, id: "id", path: "a/tool.sh", claim: true}},
	},
	{tree: 1, path: "", found: []found{{Item: Item{"n", []byte(`{}`)}, tree: 1}}},
}}

func TestScanCacheRoundTrip(t *testing.T) {
	m := mark{"hash", stamp{ino: 7, ctime: 9}}
	text := encodeScan("key", m, someScan)
	s, got, err := parseScan(text, "key", 2)
	if err != nil || got != m || len(s.records) != 3 {
		t.Fatal(err, got, s)
	}
	for i := range s.records {
		if !s.records[i].equal(&someScan.records[i]) {
			t.Errorf("%+v", s.records[i])
		}
	}
	if _, _, err := parseScan(text, "another key", 2); err == nil {
		t.Error("took a cache of another project")
	}
}

// Any damage makes it no cache: every byte changed, every length cut.
func TestScanCacheDamage(t *testing.T) {
	text := encodeScan("key", mark{hash: "h"}, someScan)
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1
		if _, _, err := parseScan(bad, "key", 2); err == nil {
			t.Fatalf("took a cache with byte %d changed", i)
		}
		if _, _, err := parseScan(text[:i], "key", 2); err == nil {
			t.Fatalf("took the first %d bytes of a cache", i)
		}
	}
	if _, _, err := parseScan(append(text, 0), "key", 2); err == nil {
		t.Fatal("took a cache with more behind it")
	}
}

// Even one whose sum is right is read with care.
func FuzzScanCache(f *testing.F) {
	body := len(cacheMagic) + sha256.Size
	f.Add(encodeScan("k", mark{}, someScan)[body:])
	f.Add(encodeScan("k", mark{"h", stamp{ino: 1}}, &scan{})[body:])
	f.Fuzz(func(t *testing.T, text []byte) {
		s, m, err := parseScanBody(text, "k", 2)
		if err != nil {
			return
		}
		again, m2, err := parseScan(encodeScan("k", m, s), "k", 2)
		if err != nil || m2 != m || !slices.EqualFunc(s.records, again.records, func(a, b record) bool { return a.equal(&b) }) {
			t.Errorf("%v: %+v and %+v", err, s, again)
		}
	})
}

func TestScanCacheIsUsed(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/b/tool.sh": "# mcp: {\"title\":5}", "server.d/server.meta.json": `{"name":"one"}`, "tools/a/ui/index.html": ""})
	b.tools()
	b.log()
	cache := b.read(".registry/.scan-tools")
	load := func() *scan { s, _ := b.loadScan(Tools); return s }
	if s := load(); s == nil || len(s.records) != 3 {
		t.Fatal("no scan")
	}
	b.reopen(nil, Options{})
	want(t, b.names(), "a b")
	b.wantLog(`warning mcp.tools: tools/b/tool.sh: "title" must be a string; ignored`) // as if it had looked
	want(t, b.read(".registry/.scan-tools"), cache)

	// The name of the server is part of every link.
	b.put(files{"server.d/server.meta.json": `{"name":"two"}`})
	b.reopen(nil, Options{})
	if load() != nil {
		t.Error("took the scan of a server of another name")
	}
	if item := b.items()[0]; !strings.Contains(item, "ui://two/a") {
		t.Error(item)
	}
	// A copy of the project is another project.
	b.put(files{"tools2/a/tool.sh": ""})
	b.reopen(project.Env{"MCPBASH_TOOLS_DIR": b.path("tools2")}, Options{})
	if load() != nil {
		t.Error("took the scan of another directory")
	}
}

func TestScanCacheBroken(t *testing.T) {
	for _, text := range []string{"", "rubbish", cacheMagic, strings.Repeat("\x00", 1000), cacheMagic + strings.Repeat("\xff", 1000)} {
		b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/.scan-tools": text})
		want(t, b.names(), "a")
		b.reopen(nil, Options{})
		if s, _ := b.loadScan(Tools); s == nil {
			t.Errorf("%.20q was not replaced", text)
		}
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/.scan-tools/": ""})
	want(t, b.names(), "a")
	b.wantLog()
}

// A cache from somebody else's archive: its sum is right, its list of names
// too, but it was made for another directory.
func TestScanCacheFromElsewhere(t *testing.T) {
	forged := &scan{records: []record{
		{entries: []entry{{"a", true}}},
		{path: "a", entries: []entry{{"tool.sh", false}}, found: []found{{Item: Item{"evil", []byte(`{"name":"evil"}`)}, id: "evil", path: "a/tool.sh"}}},
	}}
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	key := strings.Replace(cacheKey(b.p, Tools.spec(), ""), "\x00"+b.root, "\x00"+"/elsewhere", 1)
	b.put(files{".registry/.scan-tools": string(encodeScan(key, mark{}, forged))})
	want(t, b.names(), "a")
}

// In memory, a list that has not changed is the same list.
func TestListsAreKept(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	first := b.tools()
	if b.tools() != first {
		t.Error("another list")
	}
	b.put(files{"tools/a/tool.sh": "# nothing of interest"})
	if b.tools() != first {
		t.Error("another list of the same content")
	}
	b.put(files{"tools/a/tool.meta.json": `{"description":"x"}`})
	b.advance(time.Second)
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

// a directory is believed by its stamp, but not by one that is
// too young or too coarse to tell.
func TestDirectoryStamps(t *testing.T) {
	now := time.Unix(1000, 5)
	old, young := now.Add(-time.Hour).UnixNano(), now.UnixNano()
	for _, tc := range []struct {
		self stamp
		kept bool
	}{
		{stamp{ino: 1, ctime: old}, true},
		{stamp{ino: 1, ctime: young}, false},
		{stamp{ino: 1, ctime: old - 5}, false}, // whole milliseconds
		{stamp{ino: 1}, false},                 // no such time at all
	} {
		r := record{self: tc.self}
		r.settle(now)
		want(t, r.self.exists(), tc.kept)
		want(t, r.unsure, false) // a listing still tells
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/lib/x": ""})
	b.tools()
	s := b.state(Tools)
	s.scan.settle(b.store.clock)
	for _, r := range s.scan.records {
		want(t, r.self.exists(), r.path != "" && !stampOfPath(b.path("tools")).coarse())
	}
	dir, err := openFolder(b.path("tools"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.close()
	a := s.scan.record(0, "a")
	want(t, a.stamped(dir, "a"), true)
	b.put(files{"tools/a/.hidden": ""}) // seen by the stamp, and forgiven by the listing
	want(t, a.stamped(dir, "a"), false)
	b.advance(time.Minute)
	want(t, b.names(), "a")
	s.scan.settle(b.store.clock)
	want(t, s.scan.record(0, "a").stamped(dir, "a"), true)
	b.remove("tools/a/tool.sh")
	b.advance(time.Minute)
	want(t, b.names(), "")
}
