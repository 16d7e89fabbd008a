#!/usr/bin/env bash
# Is never started for a client without sampling: its metadata says that it needs one.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_text 'This client declares sampling.'
