#!/usr/bin/env bash
# The built-in provider of ui resources, as a program: providers/ui.sh URI.
exec "${MCPBASH_HELPER_BIN:-${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../bin/mcp-jq}" --helper provider ui "${1-}"
