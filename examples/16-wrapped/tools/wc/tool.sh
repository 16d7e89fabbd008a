#!/usr/bin/env bash
# Runs wc. "mcp-bash wrap" generated this from the program's help. Change it as you like:
# "mcp-bash wrap --update" keeps your changes.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool wc --allow-self}/tool-sdk.sh"

# Each value becomes one word of the command line, whatever is in it, and never shell code or an option.
argv=(wc)
mcp_argv_switch argv .bytes --bytes
mcp_argv_switch argv .chars --chars
mcp_argv_switch argv .lines --lines
mcp_argv_option argv .files0_from --files0-from= --path
mcp_argv_switch argv .max_line_length --max-line-length
mcp_argv_switch argv .words --words
argv+=(--)
mcp_argv_operand argv .file --path

input=()
mcp_argv_operand input .stdin --any
if ((${#input[@]})); then
  printf '%s' "${input[0]}" | "${argv[@]}"
else
  exec "${argv[@]}"
fi
