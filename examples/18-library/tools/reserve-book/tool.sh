#!/usr/bin/env bash
# Reserves a book. The card comes from the environment: "env" in server.d/server.meta.json passes it on, and
# server.d/policy.sh refuses the call where it is missing.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

book=$(mcp_args_require '.book')
if [[ ! -f books/${book#library://}.md ]]; then
  mcp_error no_book "There is no book $book" --hint "find-book lists the books"
  exit 0
fi
printf '%s,%s\n' "$LIBRARY_CARD" "$book" >>reservations.csv
mcp_emit_text "Reserved $book"
