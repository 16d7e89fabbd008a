#!/usr/bin/env bash
# Changes the list of tools.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

tools=${MCPBASH_PROJECT_ROOT:?}/tools
passing=$tools/test_passing_tool
if [[ -d $passing ]]; then
  rm -rf -- "$passing"
  mcp_emit_text 'There is a tool less.'
  exit 0
fi
mkdir "$passing"
cp "$tools/test_simple_text/tool.sh" "$passing/tool.sh"
printf '{"name":"test_passing_tool","description":"Comes and goes."}\n' >"$passing/tool.meta.json"
mcp_emit_text 'There is one more tool.'
