#!/usr/bin/env bash
# Reads the state of a job from its folder. It works after a restart of the server, and in every session.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

job=$(mcp_args_int '.job' --min 1)
dir="${MCPBASH_PROJECT_ROOT}/jobs/${job}"
if [ ! -d "$dir" ]; then
  mcp_result_error "{\"type\":\"no_job\",\"message\":\"There is no job ${job}. start-job starts one.\"}"
elif [ -f "${dir}/result" ]; then
  mcp_emit_text "Job ${job} is done:
$(cat "${dir}/result")"
else
  mcp_emit_text "Job ${job} runs: $(tail -n 1 "${dir}/log" 2>/dev/null || echo 'it has not begun')."
fi
