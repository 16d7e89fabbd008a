#!/usr/bin/env bash
# Counts down to zero, slowly: a stand-in for anything that takes its time.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

from=$(mcp_args_int '.from' --default 5 --min 1 --max 100)
pause=$(mcp_args_get '.pause' --default 1)

# A tool must remove the files that it creates, also when the client cancels: then the
# server sends TERM, and KILL a second later.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/countdown.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 143' TERM INT

mcp_log_debug countdown "working in ${scratch}"
for ((left = from; left > 0; left--)); do
  mcp_progress $((100 * (from - left) / from)) "${left}..." 100
  printf '%s\n' "$left" >>"${scratch}/said"
  sleep "$pause"
  # A loop that starts no programs is not woken by TERM in time; it can ask.
  if mcp_is_cancelled; then
    exit 130
  fi
done
mcp_progress 100 'Lift-off!' 100
mcp_emit_text "$(tr '\n' ' ' <"${scratch}/said")lift-off!"
