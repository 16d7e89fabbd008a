#!/usr/bin/env bash
# Lists the books that contain a word.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

word=$(mcp_args_require '.word')
found=''
shopt -s nocasematch
for book in books/*/*.md; do
  if [[ $(<"$book") == *"$word"* ]]; then
    book=${book#books/}
    found+="library://${book%.md}"$'\n'
  fi
done
mcp_emit_text "${found:-no book}"
