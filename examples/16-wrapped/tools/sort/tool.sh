#!/usr/bin/env bash
# Runs sort. "mcp-bash wrap" generated this from the program's help. Change it as you like:
# "mcp-bash wrap --update" keeps your changes.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool sort --allow-self}/tool-sdk.sh"

# Each value becomes one word of the command line, whatever is in it, and never shell code or an option.
argv=(sort)
mcp_argv_switch argv .ignore_case --ignore-case
mcp_argv_switch argv .numeric_sort --numeric-sort
mcp_argv_switch argv .reverse --reverse
mcp_argv_option argv .key --key=
mcp_argv_option argv .field_separator --field-separator=
mcp_argv_switch argv .unique --unique
argv+=(--)
mcp_argv_operand argv .file --path

input=()
mcp_argv_operand input .stdin --any
if ((${#input[@]})); then
  printf '%s' "${input[0]}" | "${argv[@]}"
else
  exec "${argv[@]}"
fi
