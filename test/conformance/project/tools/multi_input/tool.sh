#!/usr/bin/env bash
# Asks two things at once. They can be answered one after the other.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_input_request first elicitation/create '{"message": "Your first name?", "requestedSchema": {
  "type": "object", "properties": {"name": {"type": "string"}}}}'
mcp_input_request last elicitation/create '{"message": "Your last name?", "requestedSchema": {
  "type": "object", "properties": {"name": {"type": "string"}}}}'
answers=$(mcp_input_wait) || true
mcp_emit_text "$answers"
