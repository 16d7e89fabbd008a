#!/usr/bin/env bash
# Prints the directories that the client has opened to this server.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_emit_json "{\"count\":$(mcp_roots_count),\"roots\":${MCP_ROOTS_JSON:-[]}}"
