#!/usr/bin/env bash
# Asks for what this client can answer, and for nothing else.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

if [[ ${MCP_ELICIT_SUPPORTED-} == 1 ]]; then
  mcp_input_request user elicitation/create '{"message": "What is your name?", "requestedSchema": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}'
fi
if [[ ${MCP_SAMPLING_SUPPORTED-} == 1 ]]; then
  mcp_input_request model sampling/createMessage '{"maxTokens": 50, "messages": [
    {"role": "user", "content": {"type": "text", "text": "What is your name?"}}]}'
fi
if [[ ${MCP_ROOTS_SUPPORTED-} == 1 ]]; then
  mcp_input_request roots roots/list
fi
answers=$(mcp_input_wait) || true
mcp_emit_text "Answers: ${answers:-none}"
