#!/usr/bin/env bash
# Runs cut. "mcp-bash wrap" generated this from the program's help. Change it as you like:
# "mcp-bash wrap --update" keeps your changes.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool cut --allow-self}/tool-sdk.sh"

# Each value becomes one word of the command line, whatever is in it, and never shell code or an option.
argv=(cut)
mcp_argv_option argv .bytes --bytes=
mcp_argv_option argv .characters --characters=
mcp_argv_option argv .delimiter --delimiter=
mcp_argv_option argv .fields --fields=
mcp_argv_switch argv .complement --complement
mcp_argv_switch argv .only_delimited --only-delimited
mcp_argv_option argv .output_delimiter --output-delimiter=
mcp_argv_switch argv .zero_terminated --zero-terminated
mcp_argv_switch argv .M -M
argv+=(--)
mcp_argv_operand argv .file --path

input=()
mcp_argv_operand input .stdin --any
if ((${#input[@]})); then
  printf '%s' "${input[0]}" | "${argv[@]}"
else
  exec "${argv[@]}"
fi
