#!/usr/bin/env bash
# Waits for a file: a stand-in for a build, an approval, or a long query.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

file=$(mcp_args_require '.file')
path="${MCPBASH_PROJECT_ROOT}/inbox/${file}"
waited=0
while [ ! -s "$path" ]; do
  mcp_progress "$waited" "waiting for ${file}"
  sleep 1
  waited=$((waited + 1))
done
mcp_emit_text "$(head -c 65536 "$path")"
