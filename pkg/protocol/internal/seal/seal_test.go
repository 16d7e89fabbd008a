package seal

import (
	"bytes"
	"testing"
)

// M-52: a sealed text has one spelling. So has the name of an owner.
func TestOneSpelling(t *testing.T) {
	keys := [][]byte{bytes.Repeat([]byte{1}, KeySize)}
	s, self, other := New(keys), NewSelf(keys, "http://10.0.0.7:8000"), NewSelf(keys, "http://10.0.0.8:8000")
	for n := range 4 { // each number of bits that are left over
		text := bytes.Repeat([]byte{'x'}, 20+n)
		open := func(sealed string) bool {
			_, err := s.Open(sealed, nil, 0, 100)
			return err == nil
		}
		spell(t, s.Seal(text, nil), open)
	}
	spell(t, self.Name("session"), func(name string) bool { return other.Find(name, "session") != Owner{} })
}

// spell checks that no other spelling of a text opens.
func spell(t *testing.T, sealed string, open func(string) bool) {
	t.Helper()
	if !open(sealed) {
		t.Fatalf("%s does not open", sealed)
	}
	for at := range len(sealed) + 1 {
		for _, more := range []string{"\n", "\r", "\r\n", " ", "=", "==", "A", "\x00"} {
			if other := sealed[:at] + more + sealed[at:]; open(other) {
				t.Fatalf("%q is %q, too", other, sealed)
			}
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/"
	head, last := sealed[:len(sealed)-1], sealed[len(sealed)-1:]
	for _, c := range alphabet {
		if string(c) != last && open(head+string(c)) {
			t.Fatalf("%q is %q, too", head+string(c), sealed)
		}
	}
}
