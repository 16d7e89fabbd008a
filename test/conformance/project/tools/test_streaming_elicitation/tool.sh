#!/usr/bin/env bash
# Reports progress and asks the user to continue.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

mcp_progress 50 'Half of it' 100
answer=$(ask 'Go on?' '{
  "type": "object",
  "properties": { "ok": { "type": "boolean" } },
  "required": ["ok"]
}')
completed "$answer"
