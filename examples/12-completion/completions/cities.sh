#!/usr/bin/env bash
# Completes the argument of the prompt weather from a list, in pages.
set -euo pipefail

"$MCPBASH_JSON_TOOL_BIN" -Rnc \
  --argjson request "$MCP_COMPLETION_ARGS_JSON" --argjson from "$MCP_COMPLETION_OFFSET" \
  --argjson limit "$MCP_COMPLETION_LIMIT" '
  [inputs | select(ascii_downcase | startswith($request.query | ascii_downcase))]
  | { suggestions: .[$from:$from + $limit], hasMore: (length > $from + $limit), total: length }
' data/cities.txt
