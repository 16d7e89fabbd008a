#!/usr/bin/env bash
# Lists a directory inside the roots; with a single root, that one by default.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

directory=$(mcp_require_path '.path' --default-to-single-root)
if [[ ! -d $directory || ! -x $directory ]]; then
  mcp_error not_found "There is no directory ${directory}." --hint 'show-roots lists the folders.'
  exit 0
fi

cd -- "$directory"
shopt -s nullglob
names=(*)
list=$(mcp_json_arr ${names[@]+"${names[@]}"})
mcp_emit_json "$(mcp_json_typed_obj directory string "$directory" names json "$list")"
