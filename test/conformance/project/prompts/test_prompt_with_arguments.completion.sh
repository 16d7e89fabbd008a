#!/usr/bin/env bash
# Values for the arguments of the prompt: those that begin as the user has begun.
set -euo pipefail

"${MCPBASH_JSON_TOOL_BIN:?}" -c \
  '.argument.value as $begun | ["paris", "park", "party", "test", "testing"] | map(select(startswith($begun)))' \
  <<<"${MCP_COMPLETION_ARGS_JSON:?}"
