#!/usr/bin/env bash
# Attacks its hand-off files and the server.
# what: a function below.
source "${MCP_SDK:?}/tool-sdk.sh"
what="$(mcp_args_require .what)"
files="${MCP_CANCEL_FILE%/*}"

# stubborn does not end on TERM.
stubborn() {
  trap '' TERM INT HUP
  while :; do sleep 0.2; done
}
pipes() {
  mkfifo "${MCP_CANCEL_FILE}" "${MCP_CANCEL_FILE}.new" "${files}/elicit.request" "${files}/elicit.response" \
    "${MCP_INPUT_DIR}/batch.request"
  stubborn
}
huge() {
  truncate -s 4T "${MCP_LOG_STREAM}" "${MCP_PROGRESS_STREAM}" "${MCP_TOOL_ERROR_FILE}"
  sleep 0.3 # the server reads the files meanwhile
}
endless() {
  local file
  for file in "${MCP_LOG_STREAM}" "${MCP_PROGRESS_STREAM}" "${MCP_TOOL_RESOURCES_FILE}" "${MCP_TOOL_ERROR_FILE}"; do
    ln -sf /dev/zero "${file}"
  done
}
exchange() {
  mv "${files}" "${files}.moved"
  ln -s /etc "${files}"
}
litter() {
  mkdir -p "${files}/many/more"
  (cd "${files}/many" && for i in {1..500}; do : >"${i}"; done)
}
# late starts a child that leaves the process group and writes when the tool has ended. The end closes
# the pipe that the child reads.
late() {
  exec 9> >(setsid bash -c '
    exec 7>>"${MCP_PROGRESS_STREAM}" 8>>"${MCP_TOOL_ERROR_FILE}" >/dev/null 2>&1
    cat
    echo "{\"method\":\"notifications/progress\",\"params\":{\"progress\":99,\"message\":\"late\"}}" >&7
    echo "{\"code\":-1,\"message\":\"late\"}" >&8
  ')
}
flood() { head -c 12000000 /dev/zero; }
complain() { head -c 12000000 /dev/zero >&2; }
die() { kill -9 $$; }
fail() {
  echo "half a result"
  exit 3
}
ask() { mcp_elicit "Proceed?" '{"type":"object","properties":{"ok":{"type":"boolean"}}}'; }
silent() { exec >/dev/null 2>&1 sleep 60; }

"${what}"
