#!/usr/bin/env bash
# Changes the list of tools.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/passing.sh"

pass tools test_passing_tool
