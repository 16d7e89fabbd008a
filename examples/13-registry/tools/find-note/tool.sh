#!/usr/bin/env bash
# Lists the notes that contain a word. Bash does it alone: starting a program such as grep needs a higher level.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

word=$(mcp_args_require '.word')
shopt -s nocasematch
found=()
for note in notes/*.md; do
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $line == *"$word"* ]]; then
      found+=("$note")
      break
    fi
  done <"$note"
done
if ((${#found[@]} == 0)); then
  mcp_emit_text 'no note'
else
  mcp_emit_text "$(printf '%s\n' "${found[@]}")"
fi
