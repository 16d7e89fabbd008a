#!/usr/bin/env bash
# Prints the number of files in each folder of the user, without hidden files and folders.
source "${MCP_SDK:?is not set: run this tool with mcp-runtool count-files --allow-self}/tool-sdk.sh"

if [ "$(mcp_roots_count)" -eq 0 ]; then
  mcp_fail_invalid_args "No folder is open. Set MCPBASH_ROOTS to the folder to count in."
fi
text=""
while IFS= read -r root || [ -n "$root" ]; do
  files=$(find "$root" -mindepth 1 -name '.*' -prune -o -type f -print | wc -l)
  text+="$root: $((files)) files"$'\n'
done < <(mcp_roots_list)
mcp_emit_text "$text"
