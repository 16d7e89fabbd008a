#!/usr/bin/env bash
# Greets someone by name.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool hello --allow-self}/tool-sdk.sh"

name=$(mcp_args_get '.name' --default 'World')
mcp_result_success "$(mcp_json_obj message "Hello, ${name}!")"
