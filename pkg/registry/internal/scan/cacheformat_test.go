package scan

import (
	"crypto/sha256"
	"os"
	"slices"
	"testing"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

var someScan = &Result{records: []record{
	{path: "", entries: []folder.Entry{{Name: "a", IsDir: true}, {Name: "b", IsDir: false}}},
	{path: "a", unsure: true,
		entries: []folder.Entry{{Name: "tool.meta.json", IsDir: false}, {Name: "tool.sh", IsDir: false}},
		observations: []folder.Observation{
			{Name: "tool.sh", Stamp: folder.Stamp{Dev: 1, Ino: 2, Size: 3, Mode: 0o755, Mtime: -5, Ctime: 1 << 60}},
			{Name: "/icons/x", Resolved: "/real/icons/x", Stamp: folder.Stamp{Dev: ^uint64(0), Mode: os.ModeIrregular}},
			{Name: "ui/index.html"},
		},
		messages: []item.Message{{Level: mcp.Warning, Text: "w"}, {Level: mcp.Err, Text: "e\n"}},
		candidates: []item.Candidate{{Item: item.Item{Name: "n", JSON: []byte(`{"name":"n"}`)}, ID: "id", Path: "a/tool.sh",
			Claim: true}},
	},
	{tree: 1, path: "", candidates: []item.Candidate{{Item: item.Item{Name: "n", JSON: []byte(`{}`)}, Tree: 1}}},
}}

func TestScanCacheRoundTrip(t *testing.T) {
	m := Mark{"hash", folder.Stamp{Ino: 7, Ctime: 9}}
	text := Encode("key", m, someScan)
	s, got, err := Decode(text, "key", 2)
	if err != nil || got != m || len(s.records) != 3 {
		t.Fatal(err, got, s)
	}
	for i := range s.records {
		if !s.records[i].equal(&someScan.records[i]) {
			t.Errorf("%+v", s.records[i])
		}
	}
	if _, _, err := Decode(text, "another key", 2); err == nil {
		t.Error("took a cache of another project")
	}
}

// Any damage makes it no cache: every byte changed, every length cut.
func TestScanCacheDamage(t *testing.T) {
	text := Encode("key", Mark{Hash: "h"}, someScan)
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1
		if _, _, err := Decode(bad, "key", 2); err == nil {
			t.Fatalf("took a cache with byte %d changed", i)
		}
		if _, _, err := Decode(text[:i], "key", 2); err == nil {
			t.Fatalf("took the first %d bytes of a cache", i)
		}
	}
	if _, _, err := Decode(append(text, 0), "key", 2); err == nil {
		t.Fatal("took a cache with more behind it")
	}
}

// Even one whose sum is right is read with care.
func FuzzScanCache(f *testing.F) {
	body := len(cacheMagic) + sha256.Size
	f.Add(Encode("k", Mark{}, someScan)[body:])
	f.Add(Encode("k", Mark{"h", folder.Stamp{Ino: 1}}, &Result{})[body:])
	f.Fuzz(func(t *testing.T, text []byte) {
		s, m, err := decodeBody(text, "k", 2)
		if err != nil {
			return
		}
		again, m2, err := Decode(Encode("k", m, s), "k", 2)
		if err != nil || m2 != m || !slices.EqualFunc(s.records, again.records, func(a,
			b record) bool {
			return a.equal(&b)
		}) {
			t.Errorf("%v: %+v and %+v", err, s, again)
		}
	})
}
