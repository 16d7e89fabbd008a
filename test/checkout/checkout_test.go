package checkout

import (
	"fmt"
	"testing"
)

// A recorder is a test whose failure is only recorded.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

// A test without its programs names all that are missing, and how to get them.
func TestNeeds(t *testing.T) {
	r := &recorder{TB: t}
	if Needs(r, "go"); r.failure != "" {
		t.Error(r.failure)
	}
	Needs(r, "missing-one", "go", "missing-two")
	if want := "this test needs more programs; on Debian: apt-get install missing-one missing-two"; r.failure != want {
		t.Error(r.failure)
	}
}
