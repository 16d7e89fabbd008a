#!/usr/bin/env bash
# Changes the list of prompts.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

passing=${MCPBASH_PROJECT_ROOT:?}/prompts/test_passing_prompt
if [[ -f $passing.meta.json ]]; then
  rm -f -- "$passing.meta.json" "$passing.txt"
  mcp_emit_text 'There is a prompt less.'
  exit 0
fi
printf 'This prompt comes and goes.\n' >"$passing.txt"
printf '{"name":"test_passing_prompt","description":"Comes and goes."}\n' >"$passing.meta.json"
mcp_emit_text 'There is one more prompt.'
