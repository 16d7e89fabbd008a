//go:build unix

package helper

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// SDK-77, SDK-84: a pipe that nobody writes to is not waited for.
func TestPipesAreNotOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.txt")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := run(t, "", "mime", pipe); got != "application/octet-stream\n" {
		t.Errorf("mime: %q", got)
	}
	if got, _, _ := run(t, "", "media", "image", "100000", pipe); !strings.Contains(got, "not a regular file") {
		t.Errorf("media: %q", got)
	}
}
