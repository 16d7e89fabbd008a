#!/usr/bin/env bash
# Asks the user for a name and an address.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

message=$(mcp_args_require '.message')
answer=$(ask "$message" '{
  "type": "object",
  "properties": {
    "username": { "type": "string", "description": "User'\''s response" },
    "email": { "type": "string", "description": "User'\''s email address" }
  },
  "required": ["username", "email"]
}')
mcp_emit_text "User response: ${answer}"
