#!/usr/bin/env bash
# Answers with an image. A tool that prints a whole result, with "content" and
# "isError", decides itself what the client gets.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

color=$(mcp_args_require '.color')
[[ $color =~ ^#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})$ ]] ||
  mcp_fail_invalid_args '.color must look like #ff8800'
rgb="\\x${BASH_REMATCH[1]}\\x${BASH_REMATCH[2]}\\x${BASH_REMATCH[3]}"

# A GIF of one pixel: header, palette of two colours, one image block.
header='GIF89a\x01\x00\x01\x00\x80\x00\x00'
image=',\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00;'
data=$(printf %b "${header}${rgb}${rgb}${image}" | base64 | tr -d '\n')

mcp_emit_json "{
  \"content\": [
    {\"type\": \"text\", \"text\": $(mcp_json_escape "$color")},
    {\"type\": \"image\", \"data\": \"${data}\", \"mimeType\": \"image/gif\"}
  ],
  \"isError\": false
}"
