#!/usr/bin/env bash
# Runs grep. "mcp-bash wrap" generated this from the program's help. Change it as you like:
# "mcp-bash wrap --update" keeps your changes.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool grep --allow-self}/tool-sdk.sh"

# Each value becomes one word of the command line, whatever is in it, and never shell code or an option.
argv=(grep)
mcp_argv_switch argv .fixed_strings --fixed-strings
mcp_argv_switch argv .ignore_case --ignore-case --no-ignore-case
mcp_argv_switch argv .invert_match --invert-match
mcp_argv_switch argv .count --count
mcp_argv_switch argv .files_with_matches --files-with-matches
mcp_argv_option argv .max_count --max-count=
mcp_argv_switch argv .line_number --line-number
argv+=(--)
mcp_argv_operand argv .patterns --any
mcp_argv_operand argv .file --path

input=()
mcp_argv_operand input .stdin --any
if ((${#input[@]})); then
  printf '%s' "${input[0]}" | "${argv[@]}"
else
  exec "${argv[@]}"
fi
