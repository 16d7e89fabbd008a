#!/usr/bin/env bash
# Has the client's model answer a question.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

if ! answer=$(mcp_sample --key capital_question --max-tokens 100 'What is the capital of France?'); then
  mcp_error no_answer 'The model gave no answer.'
  exit 0
fi
mcp_emit_text "$("${MCPBASH_JSON_TOOL_BIN:?}" -r .content.text <<<"$answer")"
