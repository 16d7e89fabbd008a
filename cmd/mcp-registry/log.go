package main

import (
	"fmt"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/mcp"
)

// logTo writes one line a message (registry R-40). What a project wrote cannot
// break the line, nor steer the terminal.
func logTo(s cli.Streams, least mcp.Level) mcp.LogFunc {
	return func(level mcp.Level, logger, message string) {
		if level < least {
			return
		}
		line := fmt.Sprintf("mcp-registry: %s: %s: %s", level, logger, message)
		fmt.Fprintln(s.Err, strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line))
	}
}
