#!/usr/bin/env bash
# The built-in provider of https resources, as a program: providers/https.sh URI.
exec "${MCPBASH_HELPER_BIN:-${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../bin/mcp-jq}" --helper provider https "${1-}"
