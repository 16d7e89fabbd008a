// Package recipes embeds the recipes of programs that mcp-bash wrap knows (docs/RECIPES.md).
package recipes

import "embed"

// Files are the recipes, PROGRAM.json or PROGRAM-COMMAND.json.
//
//go:embed *.json
var Files embed.FS
