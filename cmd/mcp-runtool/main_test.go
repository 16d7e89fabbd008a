package main

import (
	"testing"

	"mcp-bash/test/session"
)

func TestMain(m *testing.M) {
	session.Main(m, map[string]session.Program{"mcp-runtool": run})
}

func TestSessions(t *testing.T) { session.Run(t, nil) }
