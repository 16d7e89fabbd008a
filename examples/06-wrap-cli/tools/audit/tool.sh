#!/usr/bin/env bash
# Runs depot audit and turns the lines "[2/4] nuts" of its stderr into progress.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

messages=$(mktemp "${TMPDIR:-/tmp}/audit.XXXXXX")
trap 'rm -f "$messages"' EXIT

status=0
output=$(mcp_run_with_progress --pattern '^\[([0-9]+)/([0-9]+)\]' --extract ratio \
  --stderr-file "$messages" -- bin/depot audit) || status=$?
if ((status != 0)); then
  mcp_error depot_failed "$(mcp_extract_cli_error "$output" "$(<"$messages")" "$status")"
  exit 0
fi
mcp_emit_json "$output"
