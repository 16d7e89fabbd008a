package suspended

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

var someState = requestState{
	owner: seal.Owner{Process: seal.Process{1, 2}},
	call:  7, round: 3, expires: time.Unix(1_800_000_000, 0), request: sha256.Sum256([]byte("x")),
}

// M-52, H-503: a sealed state opens for its caller, and only in the same server.
func TestRequestState(t *testing.T) {
	s := seal.New(nil)
	for _, owner := range []string{"", "http://10.0.0.7:8000", strings.Repeat("x", seal.MaxURL)} {
		want := someState
		want.owner.URL = owner
		sealed := sealState(s, want, "anna")
		if again := sealState(s, want, "anna"); again == sealed {
			t.Error("the same state is sealed to the same text twice")
		}
		if got, err := openState(s, sealed, "anna"); err != nil || got != want {
			t.Errorf("%v, %+v", err, got)
		}
		if _, err := openState(s, sealed, "bert"); err != seal.ErrForged {
			t.Errorf("another caller: %v", err)
		}
		if _, err := openState(seal.New(nil), sealed, "anna"); err != seal.ErrForged {
			t.Errorf("another server opens it: %v", err)
		}
	}
	long := someState
	long.owner.URL = strings.Repeat("x", seal.MaxURL+1)
	if _, err := openState(s, sealState(s, long, ""), ""); err != seal.ErrForged {
		t.Error("a longer owner is accepted")
	}
}

// H-500: the first key seals, and all keys open.
func TestKeyRotation(t *testing.T) {
	one, two := bytes.Repeat([]byte{1}, seal.KeySize), bytes.Repeat([]byte{2}, seal.KeySize)
	before, during, after := seal.New([][]byte{one, two}), seal.New([][]byte{two, one}), seal.New([][]byte{two})
	old, current := sealState(before, someState, ""), sealState(during, someState, "")
	for n, tc := range []struct {
		s      seal.Sealer
		sealed string
		ok     bool
	}{{before, current, true}, {during, old, true}, {after, current, true}, {after, old, false}} {
		if _, err := openState(tc.s, tc.sealed, ""); (err == nil) != tc.ok {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// H-504: a state names a replica to forward to if it is valid, not expired, and of another one.
func TestOwner(t *testing.T) {
	keys := [][]byte{bytes.Repeat([]byte{1}, seal.KeySize)}
	replica := func(keys [][]byte, url string) *Table {
		return NewTable(context.Background(), &project.Project{}, seal.NewSelf(keys, url))
	}
	a, b, restarted := replica(keys, "http://a:1"), replica(keys, "http://b:1"), replica(keys, "http://a:1")
	foreign, silent := replica(nil, "http://c:1"), replica(keys, "")
	sealed := func(of *Table, lifetime time.Duration) string {
		state := requestState{owner: of.self.Owner, expires: time.Now().Add(lifetime)}
		return sealState(of.self.Sealer, state, "anna")
	}
	none := seal.Owner{}
	for n, tc := range []struct {
		at     *Table
		sealed string
		caller string
		want   seal.Owner
	}{
		{b, sealed(a, time.Minute), "anna", a.self.Owner},
		{silent, sealed(a, time.Minute), "anna", a.self.Owner},
		{b, sealed(a, time.Minute), "bert", none},
		{b, sealed(a, time.Minute), "", none},
		{b, sealed(a, -time.Minute), "anna", none},
		{a, sealed(a, time.Minute), "anna", none},
		{restarted, sealed(a, time.Minute), "anna", none},
		{b, sealed(foreign, time.Minute), "anna", none},
		{b, sealed(silent, time.Minute), "anna", none},
		{b, "", "anna", none},
		{b, "http://a:1", "anna", none},
		{b, a.NewID("anna"), "anna", a.self.Owner}, // TASK-41
		{b, a.NewID("anna"), "bert", none},
		{b, silent.NewID("anna"), "anna", none},
	} {
		if got := tc.at.Owner(tc.sealed, tc.caller); got != tc.want {
			t.Errorf("%d: %+v, want %+v", n, got, tc.want)
		}
	}
}

// M-52: the expiry counts for the calls of other processes. The wall clock does not end those of this one.
func TestExpiry(t *testing.T) {
	keys := [][]byte{bytes.Repeat([]byte{1}, seal.KeySize)}
	here := NewTable(t.Context(), &project.Project{}, seal.NewSelf(keys, ""))
	other := NewTable(t.Context(), &project.Project{}, seal.NewSelf(keys, ""))
	r := &calls.Request{Method: &calls.Method{Name: "tools/call"}}
	for of, want := range map[*Table]string{here: usedUp, other: "it has expired; call again"} {
		state := requestState{
			owner: of.self.Owner, request: digestOf(r.Method.Name, &mcp.Params{}), expires: time.Now().Add(-time.Hour),
		}
		params := rawjson.AppendString([]byte(`{"requestState":`), sealState(of.self.Sealer, state, "anna"))
		r.Params = mcp.ReadParams(append(params, '}'))
		_, err := here.NewClient(nil, "", "anna").find(r)
		if e, ok := errors.AsType[*mcp.Error](err); !ok || string(e.Data) != strconv.Quote(want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// M-52.
func FuzzRequestState(f *testing.F) {
	s := seal.New(nil)
	sealed := sealState(s, someState, "")
	for _, seed := range []string{"", "A", sealed, sealed[:len(sealed)-1], sealed + "A", "-_" + sealed[2:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state, err := openState(s, text, "")
		if err == nil && text != sealed {
			t.Errorf("%q opens: %+v", text, state)
		}
	})
}

// M-56: forms that the SDK makes, and forms with the other members of the protocol's schema.
func TestSoundForms(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{}}`: "",
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":["X"]}},"required":["a"]}`: "",
		`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}}`:             "",
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}}}}`:           "",
		`{"type":"object","properties":{"a":{"type":"array","items":{"oneOf":[],"x":1}}}}`://
		`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[],"x":1}}}}`,
		`{"type":"object","properties":{"a":{"type":"number","minimum":1,"default":2.5,"title":"A"}}}`: "",
		`{"type":"object","properties":{"a":{"type":"string","format":"email","minLength":1}}}`:        "",
	} {
		if want == "" {
			want = in
		}
		if got, err := soundForm(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s: %v %s", in, err, got)
		}
	}
	for _, in := range []string{`7`, `null`, ``, `{}`, `{"type":"object"}`, `{"type":"array","properties":{}}`,
		`{"type":"object","properties":{},"required":[1]}`, `{"type":"object","properties":{"a":{"type":"null"}}}`} {
		if got, err := soundForm(json.RawMessage(in)); err == nil {
			t.Errorf("%s passes as %s", in, got)
		}
	}
}

// M-54.
func TestValidForms(t *testing.T) {
	form := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	for answer, want := range map[string]bool{
		`{"action":"accept","content":{"n":1}}`: true, `{"action":"accept","content":{"n":"1"}}`: false,
		`{"action":"accept"}`: false, `{"action":"accept","content":[1]}`: false, `{"action":"decline"}`: true,
		`{"action":"cancel","content":7}`: true, `{"action":"maybe"}`: false, `{}`: false,
	} {
		if validForm(form, json.RawMessage(answer)) != want {
			t.Errorf("%s", answer)
		}
	}
	if !validForm(nil, json.RawMessage(`{"action":"accept"}`)) {
		t.Error("a URL that was opened has no content")
	}
}

// M-56: every accepted form is valid JSON, and is accepted again.
func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"oneOf":[]}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := rawjson.Check(text)
		if err != nil {
			return
		}
		form, err := soundForm(v)
		if err != nil {
			return
		}
		if _, err := soundForm(form); err != nil || !json.Valid(form) {
			t.Errorf("%s became %s: %v", text, form, err)
		}
	})
}
