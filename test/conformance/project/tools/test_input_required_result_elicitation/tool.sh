#!/usr/bin/env bash
# Asks the user for a name and greets with it.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

answer=$(ask --key user_name 'What is your name?' '{
  "type": "object",
  "properties": { "name": { "type": "string" } },
  "required": ["name"]
}')
mcp_emit_text "Hello, $(field "$answer" '.content.name // "nobody"')!"
