#!/usr/bin/env bash
# Has the client's model answer a prompt.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

prompt=$(mcp_args_require '.prompt')
if ! answer=$(mcp_sample --max-tokens 100 -- "$prompt"); then
  mcp_error no_answer "The model gave no answer: $("${MCPBASH_JSON_TOOL_BIN:?}" -r .error.message <<<"$answer")."
  exit 0
fi
mcp_emit_text "LLM response: $("${MCPBASH_JSON_TOOL_BIN:?}" -r .content.text <<<"$answer")"
