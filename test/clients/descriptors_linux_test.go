package clients

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcp-bash/test/checkout"
)

// A server without descriptors says so, loses no request, and goes on when there
// are some again (T-53).
func TestWithoutDescriptors(t *testing.T) {
	t.Parallel()
	limited := filepath.Join(checkout.Directory(t), "server")
	script := "#!/bin/bash\nulimit -n 44\nexec \"" + filepath.Join(bin, "mcp-bash") + "\"\n"
	if err := os.WriteFile(limited, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, checkout.Copy(t, "testdata/hostile"), opening{binary: limited})
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
	// What the calls took is given back after their results are sent.
	eventually(t, "a call succeeds", func() bool {
		result, err := s.request(s.deadline(), "calm", nil)
		return err == nil && text(t, result) == "clean\n"
	})
}
