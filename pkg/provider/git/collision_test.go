package git

import (
	"os"
	"testing"

	"github.com/pjbgf/sha1cd"
)

// idOf returns the id of an object.
func idOf(f format, o object) string {
	id, err := f.id(o)
	if err != nil {
		panic(err)
	}
	return id
}

// RES-126: objects of a SHA-1 collision are refused (the first 320 bytes of the files of shattered.io).
func TestCollision(t *testing.T) {
	for _, name := range []string{"testdata/collision-1", "testdata/collision-2"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		h := sha1cd.New()
		h.Write(data)
		if sum, err := sumOf(h); err != errCollision {
			t.Errorf("%s: %x, %v", name, sum, err)
		}
		h.Reset()
		h.Write(data[:300])
		if _, err := sumOf(h); err != nil {
			t.Errorf("%s, cut: %v", name, err)
		}
	}
}
