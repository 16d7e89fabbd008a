// Package skills embeds the skill that teaches a coding agent to build a server with the commands.
package skills

import _ "embed"

// MCPBash is the text of mcp-bash/SKILL.md.
//
//go:embed mcp-bash/SKILL.md
var MCPBash string
