package clients

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A server without descriptors says so, loses no request, and goes on when there
// are some again (T-53).
func TestWithoutDescriptors(t *testing.T) {
	t.Parallel()
	limited := filepath.Join(directory(t), "server")
	script := "#!/bin/bash\nulimit -n 44\nexec \"" + filepath.Join(bin, "mcp-bash") + "\"\n"
	if err := os.WriteFile(limited, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, copyOf(t, "testdata/hostile"), opening{binary: limited})
	s.calm(nil)
	var all sync.WaitGroup
	for range 16 { // at a time
		all.Go(func() { s.request(s.deadline(), "attack", arguments{"what": "brief"}) })
	}
	all.Wait()
	said := compact(t, s.tap.messages(""))
	if !strings.Contains(said, "too many files open: raise the limit (ulimit -n)") ||
		strings.Contains(said, "rejected by policy") {
		t.Errorf("%s", said)
	}
	s.calm(nil)
}
