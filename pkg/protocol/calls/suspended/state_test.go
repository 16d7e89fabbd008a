package suspended

import (
	"crypto/sha256"
	"testing"
	"time"
)

// M-52: a sealed state opens, and only in the same server.
func TestRequestState(t *testing.T) {
	s := newSealer()
	want := requestState{call: 7, round: 3, expires: time.Unix(1_800_000_000, 0), request: sha256.Sum256([]byte("x"))}
	sealed := s.seal(want)
	if again := s.seal(want); again == sealed {
		t.Error("the same state is sealed to the same text twice")
	}
	if got, err := s.open(sealed); err != nil || got != want {
		t.Errorf("%v, %+v", err, got)
	}
	if _, err := newSealer().open(sealed); err == nil {
		t.Error("another server opens it")
	}
}

// M-52.
func FuzzRequestState(f *testing.F) {
	s := newSealer()
	sealed := s.seal(requestState{call: 1, round: 1, expires: time.Unix(1, 0)})
	for _, seed := range []string{"", "A", sealed, sealed[:len(sealed)-1], sealed + "A", "-_" + sealed[2:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state, err := s.open(text)
		if err == nil && text != sealed {
			t.Errorf("%q opens: %+v", text, state)
		}
	})
}
