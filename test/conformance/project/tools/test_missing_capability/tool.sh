#!/usr/bin/env bash
# Never starts for a client without sampling, which its metadata requires.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_text 'This client declares sampling.'
