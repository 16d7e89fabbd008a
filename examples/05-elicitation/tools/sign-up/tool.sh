#!/usr/bin/env bash
# Asks for several values at once, with a custom form.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT}/lib/answer.sh"

can_ask 'Signing up needs a client that can show forms.'

answer=$(mcp_elicit 'Who are you?' '{
  "type": "object",
  "properties": {
    "name": {"type": "string", "title": "Name", "minLength": 1},
    "email": {"type": "string", "title": "E-mail", "format": "email"},
    "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
    "newsletter": {"type": "boolean", "title": "Send me the newsletter", "default": false}
  },
  "required": ["name", "email"]
}') || true
accepted "$answer" 'Not signed up'

mcp_result_success "$("$MCPBASH_JSON_TOOL_BIN" -c .content <<<"$answer")"
