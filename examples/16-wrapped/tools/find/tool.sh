#!/usr/bin/env bash
# Runs find. "mcp-bash wrap" generated this from the program's help. Change it as you like:
# "mcp-bash wrap --update" keeps your changes.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool find --allow-self}/tool-sdk.sh"

# Each value becomes one word of the command line, whatever is in it, and never shell code or an option.
argv=(find)
mcp_argv_operand argv .path --path
mcp_argv_option argv .maxdepth -maxdepth
mcp_argv_option argv .mtime -mtime
mcp_argv_option argv .name -name
mcp_argv_option argv .size -size
mcp_argv_option argv .type -type

exec "${argv[@]}"
