package house

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// summed are the files that SHA256SUMS at the top is over: what people fetch by itself
// (CLI-1711). "make sums" writes it.
var summed = []string{"install.sh"}

func TestSums(t *testing.T) {
	want := ""
	for _, name := range summed {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("SHA256SUMS is not that of %v: run make sums\n%s", summed, want)
	}
}
