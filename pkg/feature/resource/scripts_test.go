//go:build unix

package resource

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcp-bash/pkg/run/code"
)

// RES-70: a script that replaces a built-in provider is found within lookEvery. The end of a script, and a script of
// another name, count at once.
func TestFindScripts(t *testing.T) {
	b := open(t, nil, nil, nil)
	now := time.Now()
	b.Scripts.now = func() time.Time { return now }
	found := func(name string) bool { return b.Scripts.Find(name) != code.File{} }
	if found("file") || found("mine") {
		t.Fatal("found a script that does not exist")
	}
	b.write("providers/file.sh", "echo x")
	b.write("providers/mine.sh", "echo x")
	if !found("mine") {
		t.Error("mine.sh is not found at once")
	}
	if now = now.Add(lookEvery - 1); found("file") {
		t.Error("looked again too soon")
	}
	if now = now.Add(1); !found("file") {
		t.Errorf("file.sh is not found after %v", lookEvery)
	}
	if os.Remove(filepath.Join(b.root, "providers/file.sh")); found("file") {
		t.Error("the script is gone")
	}
	if n := testing.AllocsPerRun(100, func() { b.Scripts.Find("file") }); n != 0 {
		t.Errorf("%v allocations for a look that is not repeated", n)
	}
}
