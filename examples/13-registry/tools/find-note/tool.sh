#!/usr/bin/env bash
# Lists the notes that contain a word.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

word=$(mcp_args_require '.word')
found=$(grep -liF -e "$word" -- notes/*.md) || found=''
mcp_emit_text "${found:-no note}"
