package methods

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

func replicaAt(key byte, url string) seal.Self {
	return seal.NewSelf([][]byte{bytes.Repeat([]byte{key}, seal.KeySize)}, url)
}

// LR-13: the URI of a result names a replica to its own caller, for its own result, and to replicas with
// the same key. A request leads nowhere else.
func TestOwner(t *testing.T) {
	a, b, foreign := replicaAt(1, "http://a:1"), replicaAt(1, "http://b:1"), replicaAt(2, "http://b:1")
	anna, bert := &auth.Identity{Name: "anna"}, &auth.Identity{Name: "bert"}
	owner := ownerOf(a)("token", anna.Key())
	uri := "mcpbash-result://token/" + owner
	request := func(uri string) string { return `{"uri":"` + uri + `"}` }
	search := `{"name":"result_search","arguments":{"uri":"` + uri + `"}}`
	state := "mcpbash-result://token/" + a.Name(anna.Key())
	for name, tc := range map[string]struct {
		at     seal.Self
		caller *auth.Identity
		method string
		params string
		want   string
	}{
		"a read":               {b, anna, "resources/read", request(uri), "http://a:1"},
		"a range":              {b, anna, "resources/read", request(uri + "?offset=1"), "http://a:1"},
		"a search":             {b, anna, "tools/call", search, "http://a:1"},
		"at the owner":         {a, anna, "resources/read", request(uri), ""},
		"another caller":       {b, bert, "resources/read", request(uri), ""},
		"no caller":            {b, nil, "resources/read", request(uri), ""},
		"another key":          {foreign, anna, "resources/read", request(uri), ""},
		"another result":       {b, anna, "resources/read", request(strings.Replace(uri, "token", "other", 1)), ""},
		"another kind of seal": {b, anna, "resources/read", request(state), ""},
		"no owner":             {b, anna, "resources/read", request("mcpbash-result://token"), ""},
		"an address":           {b, anna, "resources/read", request("mcpbash-result://token/http://c:1"), ""},
		"another tool":         {b, anna, "tools/call", strings.Replace(search, "result_search", "show", 1), ""},
		"another method":       {b, anna, "resources/subscribe", request(uri), ""},
		"another scheme":       {b, anna, "resources/read", request("file:///" + owner), ""},
		"no URI":               {b, anna, "resources/read", `{"uri":7}`, ""},
	} {
		got, gone := Owner(tc.at, tc.caller, tc.method, read(tc.params))
		want := seal.Owner{}
		if tc.want != "" {
			want = a.Owner
		}
		if got != want || (gone != nil) != (tc.want != "") {
			t.Errorf("%s: %+v, %v", name, got, gone)
		}
	}
	if ownerOf(seal.Self{}) != nil {
		t.Error("a server without other replicas names itself")
	}
	long := replicaAt(1, strings.Repeat("x", seal.MaxURL+1))
	uri = "mcpbash-result://token/" + ownerOf(long)("token", "")
	if got, _ := Owner(b, nil, "resources/read", read(request(uri))); got.URL != "" {
		t.Error("an address over the limit is used")
	}
}

func read(params string) *mcp.Params {
	p := mcp.ReadParams([]byte(params))
	return &p
}

// LR-13: no URI of a client leads to an address that no replica sealed.
func FuzzOwner(f *testing.F) {
	r := replicaAt(1, "http://a:1")
	sealed := ownerOf(replicaAt(1, "http://b:1"))("token", "")
	for _, seed := range []string{"", "token", "token/", "token/" + sealed, "token/" + sealed + "?x", "other/" + sealed} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		params := append(append([]byte(`{"uri":`), rawjson.Quote("mcpbash-result://"+rest)...), '}')
		got, _ := Owner(r, nil, "resources/read", read(string(params)))
		if got.URL != "" && (got.URL != "http://b:1" || !strings.HasPrefix(rest, "token/")) {
			t.Errorf("%q leads to %+v", rest, got)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(encodeCursor("tools", 50, "h", time.Unix(0, 0)))
	f.Add("e30=")
	f.Add("e30\n")
	f.Fuzz(func(t *testing.T, cursor string) {
		offset, err := decodeCursor(cursor, "tools", "h")
		if err == nil && (offset < 0 || strings.ContainsAny(cursor, "\r\n")) {
			t.Fatal(offset)
		}
	})
}

// P-2003: a cursor is base64url, with padding or without.
func TestSpellingOfCursors(t *testing.T) {
	for _, hash := range []string{"h", "hh", "hhh"} {
		cursor := encodeCursor("tools", 50, hash, time.Unix(0, 0))
		if offset, err := decodeCursor(cursor, "tools", hash); offset != 50 || err != nil {
			t.Fatal(offset, err)
		}
		for _, other := range []string{"=" + cursor, cursor + "\n", cursor + "=\n", cursor[:9] + "\r\n" + cursor[9:]} {
			if offset, err := decodeCursor(other, "tools", hash); err != errCursor {
				t.Errorf("%q: %d, %v", other, offset, err)
			}
		}
	}
}
