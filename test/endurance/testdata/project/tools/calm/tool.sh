#!/usr/bin/env bash
# What a well-behaved tool does: arguments, progress, a log, a result.
source "${MCP_SDK:?}/tool-sdk.sh"
name="$(mcp_args_get '.name // "World"')"
mcp_progress 50 "half"
mcp_log_info calm "hello"
mcp_result_success "$(mcp_json_obj message "Hello, ${name}!")"
