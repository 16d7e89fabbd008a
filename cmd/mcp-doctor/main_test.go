package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/session"
)

func TestMain(m *testing.M) { session.Main(m, map[string]session.Program{"mcp-doctor": run}) }

func TestSessions(t *testing.T) {
	program, err := exec.LookPath("mcp-doctor") // on the PATH of testscript
	if err != nil {
		t.Fatal(err)
	}
	session.Run(t, map[string]string{"DOCTOR": program, "INSTALLER": filepath.Join(checkout.Root(), "install.sh")})
}
