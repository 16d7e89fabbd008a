#!/usr/bin/env bash
# Takes as long as its caller wants.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

seconds=$(mcp_args_get '.seconds')
sleep "$seconds"
mcp_emit_text "Computed $(mcp_args_get '.label // "it"') in $seconds s."
