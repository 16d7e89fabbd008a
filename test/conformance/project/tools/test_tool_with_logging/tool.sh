#!/usr/bin/env bash
# Writes three log messages while it works.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_log_info conformance 'Tool execution started'
sleep 0.05
mcp_log_info conformance 'Tool processing data'
sleep 0.05
mcp_log_info conformance 'Tool execution completed'
mcp_emit_text 'Three messages were logged.'
