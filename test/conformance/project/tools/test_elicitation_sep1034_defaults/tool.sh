#!/usr/bin/env bash
# Asks the user with a default for each kind of field.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/ask.sh"

answer=$(ask 'Is this right?' '{
  "type": "object",
  "properties": {
    "name": { "type": "string", "default": "John Doe" },
    "age": { "type": "integer", "default": 30 },
    "score": { "type": "number", "default": 95.5 },
    "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
    "verified": { "type": "boolean", "default": true }
  }
}')
completed "$answer"
