#!/usr/bin/env bash
# Writes log messages, which are for clients that ask for them.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_log_debug conformance 'Looking'
mcp_log_info conformance 'Found'
mcp_log_error conformance 'Lost again'
mcp_emit_text 'Three messages were logged.'
