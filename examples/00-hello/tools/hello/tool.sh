#!/usr/bin/env bash
# Greets someone by name.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

name=$(mcp_args_get '.name' --default 'World')
mcp_emit_text "Hello, ${name}!"
