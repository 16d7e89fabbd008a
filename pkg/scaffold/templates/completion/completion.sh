#!/usr/bin/env bash
# Suggests values while an argument of __NAME__ is typed.
set -euo pipefail

# The values to choose from, one per line. A command can also print them.
values='alpha
Beta
gamma
delta
epsilon
zeta'

# MCP_COMPLETION_ARGS_JSON has the text that was typed. Values that begin with it are suggested, in pages.
# shellcheck disable=SC2016 # the variables are those of jq
"${MCPBASH_JSON_TOOL_BIN:-jq}" -nc \
  --arg values "$values" \
  --argjson request "${MCP_COMPLETION_ARGS_JSON:-null}" \
  --argjson limit "${MCP_COMPLETION_LIMIT:-5}" \
  --argjson from "${MCP_COMPLETION_OFFSET:-0}" '
  ($request.query // $request.prefix // "" | ascii_downcase) as $typed
  | ($values | split("\n") | map(select(ascii_downcase | startswith($typed)))) as $found
  | ($found | length > $from + $limit) as $more
  | { suggestions: $found[$from:$from + $limit], hasMore: $more, next: (if $more then $from + $limit else null end) }'
