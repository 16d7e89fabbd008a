#!/usr/bin/env bash
# What a project may carry along from long ago: helpers of its own that know the
# server by nothing but its files and variables (tools sections 5 and 6).

old_args() { # JQ_FILTER
  if [ -n "${MCP_TOOL_ARGS_FILE:-}" ] && [ -f "${MCP_TOOL_ARGS_FILE}" ]; then
    "${MCPBASH_JSON_TOOL_BIN}" -r "$1" <"${MCP_TOOL_ARGS_FILE}"
  else
    printf '%s' "${MCP_TOOL_ARGS_JSON:-{\}}" | "${MCPBASH_JSON_TOOL_BIN}" -r "$1"
  fi
}

old_fail() { # CODE MESSAGE
  "${MCPBASH_JSON_TOOL_BIN}" -n -c --argjson c "$1" --arg m "$2" '{code: $c, message: $m, data: null}' \
    >"${MCP_TOOL_ERROR_FILE}"
  exit 1
}

old_progress() { # PERCENT MESSAGE
  [ -n "${MCP_PROGRESS_TOKEN}" ] || return 0
  printf '{"jsonrpc":"2.0","method":"notifications/progress","params":%s}\n' \
    "$(printf '{"progressToken":"%s","progress":%s,"total":null,"message":"%s"}' \
      "${MCP_PROGRESS_TOKEN}" "$1" "$2")" >>"${MCP_PROGRESS_STREAM}"
}

old_log() { # LEVEL MESSAGE
  printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","logger":"old","data":"%s"}}\n' \
    "$1" "$2" >>"${MCP_LOG_STREAM}"
}

old_ask() { # QUESTION: prints the answer object
  rm -f "${MCP_ELICIT_RESPONSE_FILE}"
  "${MCPBASH_JSON_TOOL_BIN}" -n -c --arg m "$1" \
    '{message: $m, schema: {type: "object", properties: {confirmed: {type: "boolean"}},
      required: ["confirmed"]}, mode: "form"}' \
    >"${MCP_ELICIT_REQUEST_FILE}.tmp.$$"
  mv "${MCP_ELICIT_REQUEST_FILE}.tmp.$$" "${MCP_ELICIT_REQUEST_FILE}"
  while [ ! -f "${MCP_ELICIT_RESPONSE_FILE}" ]; do
    if [ -f "${MCP_CANCEL_FILE}" ]; then
      printf '{"action":"cancel"}'
      return 0
    fi
    sleep 0.1
  done
  cat "${MCP_ELICIT_RESPONSE_FILE}"
  rm -f "${MCP_ELICIT_RESPONSE_FILE}"
}
