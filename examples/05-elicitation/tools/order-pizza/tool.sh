#!/usr/bin/env bash
# Orders a pizza: asks for what the arguments leave open, and before it orders.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT}/lib/answer.sh"

size=$(mcp_args_get '.size // empty')
toppings=$(mcp_args_get '.toppings // empty')
confirmed=$(mcp_args_bool '.confirmed' --default false)

if [[ -z $size ]]; then
  can_ask 'Call again with size, toppings and "confirmed": true.'
  answer=$(mcp_elicit_titled_choice 'Which size?' small:'Small, 26 cm' large:'Large, 32 cm') || true
  accepted "$answer" 'Nothing ordered'
  size=$(field choice "$answer")
fi

if [[ -z $toppings ]]; then
  can_ask 'Call again with toppings, an empty list for none.'
  answer=$(mcp_elicit_multi_choice 'Which toppings?' basil capers mushrooms olives) || true
  accepted "$answer" 'Nothing ordered'
  toppings=$(field choices "$answer")
fi

if [[ $confirmed != true ]]; then
  can_ask 'Call again with "confirmed": true when the user agrees.'
  list=$("$MCPBASH_JSON_TOOL_BIN" -r 'join(" and ")' <<<"$toppings")
  answer=$(mcp_elicit_confirm "Order a ${size} pizza with ${list:-cheese}?") || true
  accepted "$answer" 'Nothing ordered'
  confirmed=$(field confirmed "$answer")
fi

if [[ $confirmed != true ]]; then
  mcp_emit_text 'Nothing ordered: you declined.'
  exit 0
fi
mcp_result_success "{\"size\":$(mcp_json_escape "$size"),\"toppings\":${toppings}}"
