#!/usr/bin/env bash
# Rolls dice.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

count=$(mcp_args_int '.count' --default 2)
dice=() total=0
for ((i = 0; i < count; i++)); do
  dice[i]=$((RANDOM % 6 + 1))
  total=$((total + dice[i]))
done
list=$(
  IFS=,
  echo "${dice[*]}"
)
mcp_result_with_ui ui://mcp-app/roll-dice \
  "Rolled ${list//,/, }: ${total} in all" "{\"dice\":[${list}],\"total\":${total}}"
