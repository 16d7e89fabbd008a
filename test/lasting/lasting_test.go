//go:build linux

package lasting

import (
	"testing"

	"mcp-bash/test/checkout"
)

// A short run of fixed seeds keeps all promises.
func TestLasts(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := checkout.BuildLikeTests(bin, "mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			c := Config{Server: bin + "/mcp-bash", Over: over, Seed: 1, Calls: 1200, Dir: checkout.Directory(t), Servers: 3,
				Log: t.Logf}
			if checkout.Race {
				c.Memory = 800 << 10 // the detector multiplies it
			}
			f, err := Run(c)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", *f)
		})
	}
}
