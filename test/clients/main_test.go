//go:build unix

// Package clients tests the real server with the official Go SDK as the client. They talk over pipes.
package clients

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// bin holds the commands, built like the tests.
var bin string

// patience is how long a test waits for what must come.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.BuildLikeTests(dir, checkout.Commands)
	}))
}

// buildShipped builds the server as it is shipped.
var buildShipped = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(bin, "shipped")
	return filepath.Join(dir, "mcp-bash"), checkout.Build(dir, "mcp-bash/cmd/mcp-bash")
})

// shipped is the server as it is shipped, for tests of its memory, and those that start hundreds of
// processes in which nothing can race.
func shipped(t *testing.T) string {
	t.Helper()
	file, err := buildShipped()
	if err != nil {
		t.Fatal(err)
	}
	return file
}
