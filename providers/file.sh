#!/usr/bin/env bash
# The built-in provider of file resources, as a program: providers/file.sh URI.
exec "${MCPBASH_HELPER_BIN:-${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../bin/mcp-jq}" --helper provider file "${1-}"
