#!/usr/bin/env bash
# Answers with text.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_text 'This is a simple text response for testing.'
