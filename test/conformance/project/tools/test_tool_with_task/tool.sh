#!/usr/bin/env bash
# Asks before it becomes a task, with its first report of progress.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_input_request user_name elicitation/create '{"message": "What is your name?", "requestedSchema": {
  "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}'
answers=$(mcp_input_wait) || true
mcp_progress 10 "working"
sleep 1
mcp_emit_text "Done for $("${MCPBASH_JSON_TOOL_BIN:?}" -r '.user_name.content.name' <<<"$answers")."
