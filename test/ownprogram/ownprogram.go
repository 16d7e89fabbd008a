// Package ownprogram lets the program of a test take the place of mcp-bash, which other programs start for its helpers.
package ownprogram

import (
	"os"
	"testing"

	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/helper/invoke"
)

// Main is the TestMain of a package that uses [Path].
func Main(m *testing.M) {
	if invoke.Is(os.Args) {
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Path returns the path of the test's program.
func Path(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}
