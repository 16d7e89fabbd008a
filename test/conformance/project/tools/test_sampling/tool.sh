#!/usr/bin/env bash
# Has the client's model answer a prompt, through the files of tools T-128.
source "${MCP_SDK:?}/tool-sdk.sh"

prompt=$(mcp_args_require '.prompt')
if [[ ${MCP_SAMPLING_SUPPORTED-} != 1 ]]; then
  mcp_error cannot_sample 'This client has no model to ask.'
  exit 0
fi

message="{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":$(mcp_json_escape "$prompt")}}"
printf '{"answer":{"method":"sampling/createMessage","params":{"messages":[%s],"maxTokens":100}}}' "$message" \
  >"${MCP_INPUT_DIR:?}/request"
mv "${MCP_INPUT_DIR}/request" "${MCP_INPUT_DIR}/batch.request"
until [[ -e ${MCP_INPUT_DIR}/batch.response ]]; do
  sleep 0.02
done
mcp_emit_text "LLM response: $("${MCPBASH_JSON_TOOL_BIN:?}" -r '.answer | .result.content.text // .error.message' "${MCP_INPUT_DIR}/batch.response")"
