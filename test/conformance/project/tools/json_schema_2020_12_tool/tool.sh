#!/usr/bin/env bash
# Gives back its arguments, which the server has held against the schema.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_result_success "$(mcp_args_raw)"
