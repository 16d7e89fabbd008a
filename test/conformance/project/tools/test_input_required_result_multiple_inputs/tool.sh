#!/usr/bin/env bash
# Asks for three things in one round.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_input_request user_name elicitation/create '{"message": "What is your name?", "requestedSchema": {
  "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}'
mcp_input_request greeting sampling/createMessage '{"maxTokens": 50, "messages": [
  {"role": "user", "content": {"type": "text", "text": "Generate a greeting"}}]}'
mcp_input_request client_roots roots/list
answers=$(mcp_input_wait) || true
mcp_emit_text "$("${MCPBASH_JSON_TOOL_BIN:?}" -r \
  '"\(.greeting.content.text) \(.user_name.content.name), \(.client_roots.roots | length) root"' <<<"$answers")"
