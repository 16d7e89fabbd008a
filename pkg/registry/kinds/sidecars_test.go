package kinds

import (
	"strings"
	"testing"
)

// in this order.
func TestCompanions(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.tar.gz": "a/b.tar.gz.completion.sh a/b.tar.gz.completion a/b.tar.completion.sh a/b.tar.completion",
		"a/b":        "a/b.completion.sh a/b.completion",
		"a.d/b":      "a.d/b.completion.sh a.d/b.completion",
		"a/.b":       "a/.b.completion.sh a/.b.completion",
	} {
		if got := strings.Join(Sidecars(path), " "); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
