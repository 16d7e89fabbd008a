#!/usr/bin/env bash
# Hands work to something that outlives the server. The job's folder is all that the tools know of it.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

pause=$(mcp_args_int '.pause' --default 0 --min 0 --max 60)
jobs="${MCPBASH_PROJECT_ROOT}/jobs"
mkdir -p "$jobs"

# mkdir fails for a number that is taken, so two calls never get the same one.
number=1
until mkdir "${jobs}/${number}" 2>/dev/null; do
  [ -d "${jobs}/${number}" ] || mcp_fail -32603 "cannot create ${jobs}/${number}"
  number=$((number + 1))
done

work=("${BASH:-bash}" "${MCPBASH_PROJECT_ROOT}/lib/job.sh" "${jobs}/${number}" "${MCPBASH_PROJECT_ROOT}/inbox" "$pause")
if ! systemd-run --user --quiet --collect --unit="long-calls-${number}" "${work[@]}" 2>/dev/null; then
  # Without systemd: a separate process group, which the server leaves alone.
  set -m
  nohup "${work[@]}" </dev/null >/dev/null 2>&1 &
fi
mcp_emit_text "Job ${number} runs. Ask show-job for its state."
