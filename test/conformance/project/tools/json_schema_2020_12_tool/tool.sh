#!/usr/bin/env bash
# Returns its arguments, which the server has validated.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_result_success "$(mcp_args_raw)"
