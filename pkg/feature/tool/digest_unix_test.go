//go:build unix

package tool

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/events"
)

// A FIFO instead of a script has no hash, and reading it does not block.
func TestDigestOfFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "tool.sh")
	if err := unix.Mkfifo(fifo, 0o700); err != nil {
		t.Fatal(err)
	}
	var d digests
	var w events.Work
	if d.fill(&w, fifo, nil); w.Script != (events.Hash{}) {
		t.Error(w.Script)
	}
}
