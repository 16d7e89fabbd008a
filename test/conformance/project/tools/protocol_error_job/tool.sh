#!/usr/bin/env bash
# Ends with a JSON-RPC error.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

sleep 1
mcp_fail -32603 'The job has crashed'
