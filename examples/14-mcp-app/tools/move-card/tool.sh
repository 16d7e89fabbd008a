#!/usr/bin/env bash
# Moves a card of the board to another column.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

id=$(mcp_args_require '.cardId')
to=$(mcp_args_require '.toColumn')
file=${MCPBASH_PROJECT_ROOT}/data/cards.json

title=$("$MCPBASH_JSON_TOOL_BIN" -r --arg id "$id" '.[] | select(.id == $id).title' "$file")
if [[ -z $title ]]; then
  mcp_error not_found "There is no card ${id}" --hint 'The tool board lists the cards'
  exit 0
fi
"$MCPBASH_JSON_TOOL_BIN" -c --arg id "$id" --arg to "$to" \
  'map(if .id == $id then .column = $to else . end)' "$file" >"$file.new.$$"
mv "$file.new.$$" "$file"
mcp_emit_text "Moved \"${title}\" to ${to}"
