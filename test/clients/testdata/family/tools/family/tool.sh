#!/usr/bin/env bash
# Has a child and a grandchild. None of the three heeds TERM.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
trap '' TERM INT HUP
(
  sleep 600 &
  mcp_log_info family "grandchild $!"
  wait
) &
mcp_log_info family "child $!"
mcp_log_info family "tool $$"
wait
