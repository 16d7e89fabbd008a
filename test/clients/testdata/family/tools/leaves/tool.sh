#!/usr/bin/env bash
# Leaves two processes running. Only one of them stays in the group of this script.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
sleep 600 >/dev/null 2>&1 &
left=$!
read -r daemon < <(setsid bash -c 'echo $$; exec sleep 600 >/dev/null 2>&1')
if (exec 3<>/dev/tty) 2>/dev/null; then terminal=true; else terminal=false; fi
mcp_emit_json "$(mcp_json_obj left "$left" daemon "$daemon" terminal "$terminal")"
