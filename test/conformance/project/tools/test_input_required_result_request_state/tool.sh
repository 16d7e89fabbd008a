#!/usr/bin/env bash
# Asks the user to confirm. What it knew before it asked, it knows afterwards: it is the same process.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

state="state-ok $$"
answer=$(ask --key confirm 'Please confirm' '{
  "type": "object",
  "properties": { "ok": { "type": "boolean" } },
  "required": ["ok"]
}')
mcp_emit_text "$state: $(field "$answer" .action)"
