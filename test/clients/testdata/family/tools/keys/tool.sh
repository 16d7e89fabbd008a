#!/usr/bin/env bash
set -euo pipefail
source "${MCP_SDK:?}/tool-sdk.sh"
keys=$(mcp_args_get '.o | keys | join(",")')
printf '%s' "$keys"
