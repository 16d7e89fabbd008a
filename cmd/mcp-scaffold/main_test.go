package main

import (
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/runtool"
	"mcp-bash/test/session"
)

func TestMain(m *testing.M) {
	session.Main(m, map[string]session.Program{"mcp-scaffold": run, "mcp-runtool": runTool})
}

func runTool(s cli.Streams, args []string) int {
	return runtool.Command(tree.Embedded).Main(s, "mcp-runtool", args)
}

func TestSessions(t *testing.T) { session.Run(t, nil) }
