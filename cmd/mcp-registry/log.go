package main

import (
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// logTo writes one line a message, whatever a project wrote.
func logTo(s cli.Streams, least mcp.Level) mcp.LogFunc {
	return func(level mcp.Level, logger, message string) {
		if level < least {
			return
		}
		tell(s, fmt.Sprintf("%s: %s: %s", level, logger, secrets.Text(message)))
	}
}

// tell writes a line on standard error.
func tell(s cli.Streams, text string) {
	cli.Printf(s.Err, "mcp-registry: %s\n", text)
}
