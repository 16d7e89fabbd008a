package main

import (
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// logTo returns a function that writes each message on one line.
func logTo(s cli.Streams, minimum mcp.Level) mcp.LogFunc {
	return func(level mcp.Level, logger, message string) {
		if level < minimum {
			return
		}
		printLine(s, fmt.Sprintf("%s: %s: %s", level, logger, secrets.Text(message)))
	}
}

func printLine(s cli.Streams, text string) {
	cli.Printf(s.Err, "mcp-registry: %s\n", text)
}
