#!/usr/bin/env bash
# Asks the user to confirm. The same process continues with the answer, so its variables keep their values.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

state="state-ok $$"
answer=$(ask --key confirm 'Please confirm' '{
  "type": "object",
  "properties": { "ok": { "type": "boolean" } },
  "required": ["ok"]
}')
mcp_emit_text "$state: $(field "$answer" .action)"
