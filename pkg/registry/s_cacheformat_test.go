package registry

import (
	"crypto/sha256"
	"os"
	"slices"
	"testing"

	"mcp-bash/pkg/mcp"
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
