#!/usr/bin/env bash
# Reports how far it is.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_progress 0 'Started' 100
sleep 0.05
mcp_progress 50 'Half of it' 100
sleep 0.05
mcp_progress 100 'Done' 100
mcp_emit_text 'All of it is done.'
