#!/usr/bin/env bash
# An ordinary tool next to long-running ones.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_text "Hello, $(mcp_args_get '.name')!"
