#!/usr/bin/env bash
# The built-in provider of echo resources, as a program: providers/echo.sh URI.
exec "${MCPBASH_HELPER_BIN:-${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../bin/mcp-jq}" --helper provider echo "${1-}"
