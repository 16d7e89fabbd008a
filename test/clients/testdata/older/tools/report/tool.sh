#!/usr/bin/env bash
# A tool as they were written for the Bash edition.
set -euo pipefail

# shellcheck source=/dev/null
source "${MCP_SDK:?MCP_SDK environment variable not set}/tool-sdk.sh"
# shellcheck source=/dev/null
source "${MCP_SDK}/../lib/path.sh"

title="$(mcp_args_get '.title // empty' 2>/dev/null || true)"
if [ -z "${title}" ]; then
  mcp_fail_invalid_args "Missing required argument: title"
fi
count="$(mcp_args_get '.count // 3')"
tenant="$(mcp_meta_get '.tenant')"

case "${title}" in
  fail) mcp_fail -32010 "Custom failure" '{"field":"title"}' ;;
  helpful)
    mcp_result_error '{"type":"not_found","message":"No such report"}'
    exit 0
    ;;
  crash)
    echo "first line" >&2
    echo "last words" >&2
    exit 3
    ;;
esac

mcp_log_info "report" "Building ${count} sections"
for ((i = 1; i <= count; i++)); do
  if mcp_is_cancelled; then
    exit 1
  fi
  mcp_progress "$((i * 100 / count))" "Section ${i}" "100"
done

home="$(mcp_path_normalize "./tools/../tools")"
"${MCPBASH_JSON_TOOL_BIN}" -n \
  --arg title "${title}" --argjson sections "${count}" --arg tenant "${tenant}" --arg tools "${home}" \
  '{title: $title, sections: $sections, tenant: $tenant, tools: $tools}'
