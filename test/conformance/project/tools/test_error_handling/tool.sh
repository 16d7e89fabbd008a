#!/usr/bin/env bash
# Always fails.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_error intended 'This tool intentionally returns an error for testing'
