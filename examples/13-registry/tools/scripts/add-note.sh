#!/usr/bin/env bash
# Writes a note. server.d/register.json describes this tool; there is no tool.meta.json.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

title=$(mcp_args_require '.title')
text=$(mcp_args_require '.text')
printf '%s\n' "$text" >"notes/$title.md"
mcp_emit_text "notes/$title.md"
