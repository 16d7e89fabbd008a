#!/usr/bin/env bash
# Looks an item up with depot: again while the stock is locked, and with depot's
# own words when it fails.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

item=$(mcp_args_require '.item')

messages=$(mktemp "${TMPDIR:-/tmp}/stock.XXXXXX")
trap 'rm -f "$messages"' EXIT

# Exits 1 and 2 are final; after any other it is tried again, 5 times in all.
status=0
output=$(mcp_with_retry 5 0.2 -- bin/depot find "$item" 2>"$messages") || status=$?
if ((status != 0)); then
  last=$(tail -n 1 "$messages")
  mcp_error depot_failed "$(mcp_extract_cli_error "$output" "$last" "$status")"
  exit 0
fi
mcp_emit_json "$output"
