#!/usr/bin/env bash
# Asks the client for its roots. MCP_ROOTS_JSON has those that the server knew when
# the tool started; where the client cannot be asked, they are what there is.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

asked=true
if ! answer=$(mcp_roots_request); then
  asked=false answer="{\"roots\":${MCP_ROOTS_JSON:-[]}}"
fi
roots=$("$MCPBASH_JSON_TOOL_BIN" -c '[.roots[].uri]' <<<"$answer")
mcp_emit_json "$(mcp_json_typed_obj asked boolean "$asked" roots json "$roots")"
