package main

import (
	"fmt"
	"os"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/test/session"
)

func TestMain(m *testing.M) {
	session.Main(m, map[string]session.Program{
		"mcp-bash": run,
		"mcp-echo": func(s cli.Streams, args []string) int { // a sibling that another author made
			for _, arg := range append(args, os.Getenv("MCPBASH_ARGV0")) {
				fmt.Fprintln(s.Out, arg)
			}
			return 7
		},
	})
}

func TestSessions(t *testing.T) { session.Run(t, map[string]string{"MCPBASH_TOOL_ALLOWLIST": "*"}) }
