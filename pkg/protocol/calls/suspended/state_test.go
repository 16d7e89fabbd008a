package suspended

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	process: [16]byte{1, 2}, call: 7, round: 3, expires: time.Unix(1_800_000_000, 0), request: sha256.Sum256([]byte("x")),
}

// M-52, H-503: a sealed state opens for its caller, and only in the same server.
func TestRequestState(t *testing.T) {
	s := seal.New(nil)
	for _, owner := range []string{"", "http://10.0.0.7:8000", strings.Repeat("x", seal.MaxURL)} {
		want := someState
		want.owner = owner
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
	long.owner = strings.Repeat("x", seal.MaxURL+1)
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
		return NewTable(context.Background(), &project.Project{}, url, seal.New(keys))
	}
	a, b, restarted := replica(keys, "http://a:1"), replica(keys, "http://b:1"), replica(keys, "http://a:1")
	foreign, silent := replica(nil, "http://c:1"), replica(keys, "")
	sealed := func(of *Table, lifetime time.Duration) string {
		state := of.own
		state.expires = time.Now().Add(lifetime)
		return sealState(of.sealer, state, "anna")
	}
	for n, tc := range []struct {
		at     *Table
		sealed string
		caller string
		want   string
	}{
		{b, sealed(a, time.Minute), "anna", "http://a:1"},
		{silent, sealed(a, time.Minute), "anna", "http://a:1"},
		{b, sealed(a, time.Minute), "bert", ""},
		{b, sealed(a, time.Minute), "", ""},
		{b, sealed(a, -time.Minute), "anna", ""},
		{a, sealed(a, time.Minute), "anna", ""},
		{restarted, sealed(a, time.Minute), "anna", ""},
		{b, sealed(foreign, time.Minute), "anna", ""},
		{b, sealed(silent, time.Minute), "anna", ""},
		{b, "", "anna", ""},
		{b, "http://a:1", "anna", ""},
		{b, a.NewID("anna"), "anna", "http://a:1"}, // TASK-41
		{b, a.NewID("anna"), "bert", ""},
		{b, silent.NewID("anna"), "anna", ""},
	} {
		if got := tc.at.Owner(tc.sealed, tc.caller); got != tc.want {
			t.Errorf("%d: %q, want %q", n, got, tc.want)
		}
	}
}

// M-52: the expiry counts for the calls of other processes. The wall clock does not end those of this one.
func TestExpiry(t *testing.T) {
	keys := [][]byte{bytes.Repeat([]byte{1}, seal.KeySize)}
	here := NewTable(t.Context(), &project.Project{}, "", seal.New(keys))
	other := NewTable(t.Context(), &project.Project{}, "", seal.New(keys))
	r := &calls.Request{Method: &calls.Method{Name: "tools/call"}}
	for of, want := range map[*Table]string{here: usedUp, other: "it has expired; call again"} {
		state := of.own
		state.request, state.expires = digestOf(r.Method.Name, nil), time.Now().Add(-time.Hour)
		r.Params = rawjson.AppendString([]byte(`{"requestState":`), sealState(of.sealer, state, "anna"))
		r.Params = append(r.Params, '}')
		_, err := here.NewClient(nil, "anna").find(r)
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
