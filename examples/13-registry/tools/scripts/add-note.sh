#!/usr/bin/env bash
# Writes a note. Nothing beside this file describes it: server.d/register.json does.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

title=$(mcp_args_require '.title')
text=$(mcp_args_require '.text')
printf '%s\n' "$text" >"notes/$title.md"
mcp_emit_text "notes/$title.md"
