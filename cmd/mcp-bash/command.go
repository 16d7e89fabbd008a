package main

import (
	"fmt"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
)

func command() *cli.Command {
	c := &cli.Command{
		Name:    "mcp-bash",
		Summary: "Serve a folder of scripts to MCP clients.",
		Examples: []cli.Example{
			{Line: "mcp-bash", Purpose: "serve the project around this directory"},
			{Line: "MCPBASH_PROJECT_ROOT=~/srv mcp-bash", Purpose: "serve that one, as a client does"},
			{Line: "mcp-bash run-tool hello --allow-self", Purpose: "try one tool without a client"},
			{Line: "mcp-bash request tools/list", Purpose: "ask the server one thing"},
			{Line: "mcp-bash registry refresh", Purpose: "rebuild .registry/*.json"},
			{Line: "mcp-bash debug", Purpose: "serve, and record every message"},
			{Line: "mcp-bash new my-server", Purpose: "make a project"},
			{Line: "mcp-bash scaffold tool my-tool", Purpose: "add a tool to it"},
		},
		Usage: "[serve [--http [ADDR]] [-- ARG...] | debug | COMMAND ...]",
		Text: `"mcp-bash FOO" runs the program mcp-FOO, as git does. The program is next to mcp-bash or on PATH.

A project is a directory with server.d/server.meta.json. Outside of a project, mcp-bash serves a temporary
getting-started helper.

Frequent environment variables (all variables: docs/SETTINGS.md):

  MCPBASH_PROJECT_ROOT     the project to serve
  MCPBASH_TOOL_ALLOWLIST   tools that may run; * for all; unset, none may
  MCPBASH_REMOTE_TOKEN     a secret that every request must carry
  MCPBASH_LOG_LEVEL        debug, info, notice, warning, error, ...`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "normal end"},
			{Code: 1, Meaning: "failure at start, or standard output that cannot be written"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Commands: []*cli.Command{serveCommand(nil), debugCommand(), requestCommand(), providerCommand(),
			templateCommand(), tokenCommand(), health.Command("health", serverOf), health.Command("ready", serverOf)},
	}
	for _, s := range siblings {
		summary := fmt.Sprintf("%s (%s).", s.summary, s.program)
		c.Commands = append(c.Commands, &cli.Command{Name: s.verb, Summary: summary})
	}
	return c
}
