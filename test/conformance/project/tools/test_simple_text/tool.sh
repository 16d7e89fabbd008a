#!/usr/bin/env bash
# Answers with text.
source "${MCP_SDK:?}/tool-sdk.sh"

mcp_emit_text 'This is a simple text response for testing.'
