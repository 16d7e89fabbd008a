#!/usr/bin/env bash
# Answers with the roots of the client.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

if ! answer=$(mcp_roots_request --key client_roots); then
  mcp_error no_answer 'The client did not name its roots.'
  exit 0
fi
mcp_emit_text "Roots: $("${MCPBASH_JSON_TOOL_BIN:?}" -r '[.roots[].uri] | join(", ")' <<<"$answer")"
