#!/usr/bin/env bash
# Has the client's model sum up a text.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT}/lib/answer.sh"

text=$(mcp_args_require '.text')

if ! message=$(mcp_sample --system 'You sum up texts in one sentence.' --max-tokens 200 "$text"); then
  why=$("$MCPBASH_JSON_TOOL_BIN" -r .error.message <<<"$message")
  mcp_error no_model "The client's model was not asked, or did not answer: ${why}." --hint 'Sum it up yourself.'
  exit 0
fi
mcp_emit_text "$(text_of . "$message")"
