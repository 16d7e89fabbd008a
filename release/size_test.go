package main

import (
	"os"
	"path/filepath"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
)

// maxPrograms is the maximum size of all commands of one system, in bytes.
const maxPrograms = 53_800_000

// The commands stay small: only mcp-bash has a network client and jq.
func TestSizes(t *testing.T) {
	r := release{root: "..", work: t.TempDir()}
	dir, err := r.compile(mainModule, runtimes.Target{OS: "linux", Arch: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob(filepath.Join(dir, "mcp-*"))
	if err != nil || len(programs) != 6 {
		t.Fatalf("%q, %v", programs, err)
	}
	var total int64
	for _, program := range programs {
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-12s %10d bytes", filepath.Base(program), info.Size())
		total += info.Size()
	}
	t.Logf("%-12s %10d bytes", "all", total)
	if total > maxPrograms {
		t.Errorf("the commands have %d bytes, more than %d", total, maxPrograms)
	}
}
