#!/usr/bin/env bash
# Names a region, which clients that speak HTTP repeat in a header.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_text "Region: $(mcp_args_require '.region')"
