#!/usr/bin/env bash
# Is moved to the tools, and away again, by test_trigger_tool_change.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_text 'Here I am.'
