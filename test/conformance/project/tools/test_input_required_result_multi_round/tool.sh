#!/usr/bin/env bash
# Asks one question after the other.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

first=$(ask --key step1 'Step 1: What is your name?' '{
  "type": "object",
  "properties": { "name": { "type": "string" } },
  "required": ["name"]
}')
second=$(ask --key step2 'Step 2: What is your favorite color?' '{
  "type": "object",
  "properties": { "color": { "type": "string" } },
  "required": ["color"]
}')
mcp_emit_text "$(field "$first" '.content.name // "nobody"') likes $(field "$second" '.content.color // "no color"')."
