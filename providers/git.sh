#!/usr/bin/env bash
# The built-in provider of git resources, as a program: providers/git.sh URI.
exec "${MCPBASH_HELPER_BIN:-${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../bin/mcp-jq}" --helper provider git "${1-}"
