#!/usr/bin/env bash
# Suggests values while an argument of __NAME__ is typed.
set -euo pipefail

# Put here what there is to choose from, one a line; or have a command print it.
values='alpha
Beta
gamma
delta
epsilon
zeta'

# What was typed stands in MCP_COMPLETION_ARGS_JSON; values that begin with it are suggested, in pages.
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
