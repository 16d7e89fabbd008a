#!/usr/bin/env bash
# Removes the empty texts below a directory, if the user agrees.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

directory=$(mcp_require_path '.path' --default-to-single-root)
files=()
while IFS= read -r file; do
  files+=("$file")
done < <(find "$directory" -type f -name '*.txt' -empty | LC_ALL=C sort)
if ((${#files[@]} == 0)); then
  mcp_emit_text 'There is nothing to remove.'
  exit 0
fi

answer=$(mcp_elicit_confirm "Remove ${files[*]#"$directory"/}, which is empty?") || true
if [[ $("$MCPBASH_JSON_TOOL_BIN" '.action == "accept" and .content.confirmed' <<<"$answer") != true ]]; then
  mcp_emit_text 'Nothing was removed.'
  exit 0
fi
rm -- "${files[@]}"
mcp_emit_json "{\"removed\":$(mcp_json_arr "${files[@]#"$directory"/}")}"
