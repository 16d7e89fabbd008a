#!/usr/bin/env bash
# Lists a directory inside the roots; with a single root, that one by default.
source "${MCP_SDK:?}/tool-sdk.sh"

directory=$(mcp_require_path '.path' --default-to-single-root)
if [[ ! -d $directory || ! -x $directory ]]; then
  mcp_error not_found "There is no directory ${directory}." --hint 'show-roots says where to look.'
  exit 0
fi

cd -- "$directory"
shopt -s nullglob
names=(*)
mcp_emit_json "{\"directory\":$(mcp_json_escape "$directory"),\"names\":$(mcp_json_arr ${names[@]+"${names[@]}"})}"
