#!/usr/bin/env bash
# Completes the arguments of the prompt recipe: cuisines, and dishes of the
# cuisine that was chosen before.
set -euo pipefail

"$MCPBASH_JSON_TOOL_BIN" -c '
  { italian: ["lasagne", "minestrone", "risotto"], japanese: ["okonomiyaki", "ramen", "udon"] } as $menu
  | (.query | ascii_downcase) as $typed
  | if .argument.name == "cuisine" then $menu | keys
    else $menu[.context.arguments.cuisine // ""] // ($menu | add)
    end
  | map(select(startswith($typed)))
' <<<"$MCP_COMPLETION_ARGS_JSON"
