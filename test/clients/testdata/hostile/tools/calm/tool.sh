#!/usr/bin/env bash
# Prints "clean" if its hand-off files are correct. With where, a child of the previous call
# writes to its files first.
source "${MCP_SDK:?}/tool-sdk.sh"
where="$(mcp_args_get '.where // ""')"
if [ -n "${where}" ]; then
  echo >"${where}/go"
  read -r _ <"${where}/written"
fi
for file in "${MCP_LOG_STREAM}" "${MCP_PROGRESS_STREAM}" "${MCP_TOOL_RESOURCES_FILE}" "${MCP_TOOL_ERROR_FILE}"; do
  if [ ! -f "${file}" ] || [ -L "${file}" ] || [ -s "${file}" ]; then
    echo "dirty: ${file}"
    exit 0
  fi
done
[ ! -e "${MCP_CANCEL_FILE}" ] || echo "dirty: cancelled"
echo "clean"
