#!/usr/bin/env bash
# __NAME__: greets someone.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool __NAME__ --allow-self}/tool-sdk.sh"

name=$(mcp_args_get '.name' --default 'World')

# Other functions of the SDK; docs/WRITING-TOOLS.md describes all of them:
#     count=$(mcp_args_int '.count' --default 1 --min 1 --max 10)      a number within limits
#     loud=$(mcp_args_bool '.loud' --default false)                    true or false
#     file=$(mcp_require_path '.path')                                 a path that the client lets us use
#     mcp_progress 50 'half way' 100                                   during a long task
#     mcp_log_info __NAME__ 'a line for the log of the client'
#     mcp_config_load --file config/__NAME__.json --defaults '{"limit":5}'
#     limit=$(mcp_config_get '.limit' --default 5)
#     mcp_result_text_with_resource 'See the file' --path "$file"      a file as part of the result
#     mcp_error not_found 'There is no such thing' --hint 'Try another name'; exit 0

mcp_result_success "$(mcp_json_obj message "Hello ${name}")"
