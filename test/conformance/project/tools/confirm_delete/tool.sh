#!/usr/bin/env bash
# Asks its client while it is a task.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

answer=$(mcp_elicit "Delete $(mcp_args_get '.filename')?" '{
  "type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}')
mcp_emit_text "The answer is $answer."
