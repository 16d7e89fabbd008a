#!/usr/bin/env bash
# Writes a log message while it works. So the answer comes on a stream, which a client can resume.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_log_info conformance 'The stream is open'
mcp_emit_text 'The stream was open.'
