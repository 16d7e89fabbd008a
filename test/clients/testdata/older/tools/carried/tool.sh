#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/old-sdk.sh"

path="$(old_args '.path // empty')"
[ -n "${path}" ] || old_fail -32602 "path is required"

old_progress 10 "asking"
old_log notice "attaching ${path}"
answer="declined"
if [ "${MCP_ELICIT_SUPPORTED}" = "1" ]; then
  answer="$(old_ask "Attach ${path}?" |
    "${MCPBASH_JSON_TOOL_BIN}" -r 'if .content.confirmed == true then "confirmed" else .action end')"
fi
if [ "${answer}" = "confirmed" ]; then
  printf '%s\ttext/markdown\told://attached\n' "${path}" >>"${MCP_TOOL_RESOURCES_FILE}"
fi
old_progress 10 "the same again"
old_progress 90 "done"
printf 'roots %s, tool %s, %s\n' "${MCP_ROOTS_COUNT}" "${MCP_TOOL_NAME}" "${answer}"
