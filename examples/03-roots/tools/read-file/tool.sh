#!/usr/bin/env bash
# Prints the beginning of a text file inside the roots.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

file=$(mcp_require_path '.path')
lines=$(mcp_args_int '.lines' --default 20 --min 1 --max 1000)

if [[ ! -f $file || ! -r $file ]]; then
  mcp_error not_found "There is no readable file ${file}." --hint 'list-files shows what there is.'
  exit 0
fi
head -n "$lines" -- "$file"
