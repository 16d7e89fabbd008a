#!/usr/bin/env bash
# Reports progress for longer than its time limit, and then is silent for longer than that. The limit
# counts from the last report, so the pauses are what the test is about.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
for step in 1 2 3 4 5 6 7 8 9; do
  mcp_progress "$step" working
  sleep 0.25
done
sleep 60
