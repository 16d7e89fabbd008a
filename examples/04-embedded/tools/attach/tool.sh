#!/usr/bin/env bash
# Answers with a file: the server reads it and embeds it in the result, text as
# text, anything else in base64. It must be inside the roots.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

file=$(mcp_require_path '.path')
if [[ ! -f $file || ! -r $file ]]; then
  mcp_error not_found "There is no readable file ${file}."
  exit 0
fi
mcp_result_text_with_resource "$(mcp_json_obj attached "${file##*/}")" --path "$file"
