#!/usr/bin/env bash
# Shows the board: as cards where the client shows pages, and always as text for the model.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

cards=$(<"${MCPBASH_PROJECT_ROOT}/data/cards.json")
text=$("$MCPBASH_JSON_TOOL_BIN" -r 'map("\(.column): \(.title) (\(.id))") | sort | join("\n")' <<<"$cards")
mcp_result_with_ui ui://mcp-app/board "$text" "{\"cards\":${cards}}"
