# shellcheck shell=bash
# Functions for tests that call the tools of this project. Source this file in Bash:
#
#   mcp_session_start [SECONDS]        starts one server. Each call may take SECONDS (10).
#   mcp_session_call TOOL [ARGS]       calls a tool. It fails if the result is an error.
#   mcp_session_request METHOD [ARGS]  sends any other request, such as tools/list.
#   mcp_session_end                    ends the server.
#
# ARGS is a JSON object. The result of the last call is in MCP_SESSION_RESULT, as JSON, and the reason of a
# failure in MCP_SESSION_ERROR. mcp_bash is the path of the program. The file needs no other test program.

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P) || return 1
export MCPBASH_PROJECT_ROOT="${MCPBASH_PROJECT_ROOT:-$project}"

find_mcp_bash() {
  local candidate
  for candidate in "${MCPBASH_BIN:-}" "${project}/bin/mcp-bash" "$(command -v mcp-bash || :)" \
    "${MCPBASH_HOME:-}/bin/mcp-bash" "${project}/../bin/mcp-bash"; do
    if [[ -f $candidate && -x $candidate ]]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  echo 'mcp-bash not found; add to PATH or set MCPBASH_HOME.' >&2
  return 1
}

mcp_bash=$(find_mcp_bash) || return 1
session_pid='' session_limit=10 session_id=0 session_dir='' session_nothing='{}'
MCP_SESSION_RESULT='' MCP_SESSION_ERROR=''

mcp_session_start() { # [SECONDS]
  mcp_session_open "$@" && return
  printf '%s\n' "$MCP_SESSION_ERROR" >&2
  return 1
}

mcp_session_call() { # TOOL [ARGS]
  mcp_session_tool "$@" && return
  printf '%s\n' "$MCP_SESSION_ERROR" >&2
  return 1
}

# The server reads from descriptor 7 of the test and writes to 8. It inherits no descriptor 3, for which bats waits.
mcp_session_open() { # [SECONDS]
  local hello='{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"session.sh","version":"1"}}'
  mcp_session_end
  session_limit=${1:-10} session_id=0
  session_dir=$(mktemp -d "${TMPDIR:-/tmp}/mcp-test.XXXXXX") || return 1
  mkfifo "${session_dir}/in" "${session_dir}/out" || return 1
  (
    unset MCPBASH_REMOTE_TOKEN
    MCPBASH_TOOL_ALLOWLIST="${MCPBASH_TOOL_ALLOWLIST:-*}" exec "$mcp_bash" 3>&-
  ) <"${session_dir}/in" >"${session_dir}/out" 2>"${session_dir}/log" &
  session_pid=$!
  exec 7>"${session_dir}/in" 8<"${session_dir}/out"
  if ! mcp_session_request initialize "$hello"; then
    MCP_SESSION_ERROR+=" $(<"${session_dir}/log")"
    return 1
  fi
  session_write '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}

mcp_session_tool() { # TOOL [ARGS]
  local arguments=${2:-$session_nothing} parameters
  MCP_SESSION_RESULT=''
  # shellcheck disable=SC2016 # the variables are those of jq
  if [[ -z $session_pid ]]; then
    MCP_SESSION_ERROR='no session: call mcp_session_start first'
  elif ! parameters=$("$mcp_bash" --helper jq -nc --arg name "$1" --argjson arguments "$arguments" \
    '{name: $name, arguments: $arguments}' 2>/dev/null); then
    MCP_SESSION_ERROR="the arguments are not JSON: ${arguments}"
  elif mcp_session_request tools/call "$parameters"; then
    "$mcp_bash" --helper jq -e '.isError != true' <<<"$MCP_SESSION_RESULT" >/dev/null && return
    MCP_SESSION_ERROR=$MCP_SESSION_RESULT
  fi
  return 1
}

mcp_session_end() {
  local end=$((SECONDS + 5)) line
  if [[ -n $session_pid ]]; then
    exec 7>&-
    while read -r -t 5 -u 8 line; do :; done # until it has ended
    ((SECONDS < end)) || kill "$session_pid" 2>/dev/null
    exec 8<&-
    wait "$session_pid" 2>/dev/null || :
    session_pid=''
  fi
  [[ -z $session_dir ]] || rm -rf "$session_dir"
  session_dir=''
}

session_write() { # LINE: not to a server that is gone
  local written=0
  trap '' PIPE
  printf '%s\n' "$1" >&7 2>/dev/null || written=$?
  trap - PIPE
  return "$written"
}

mcp_session_request() { # METHOD [ARGS]
  local line end=$((SECONDS + session_limit)) answer status=0 parameters=${2:-$session_nothing}
  session_id=$((session_id + 1)) MCP_SESSION_RESULT='' MCP_SESSION_ERROR=''
  session_write '{"jsonrpc":"2.0","id":'"${session_id}"',"method":"'"$1"'","params":'"${parameters}"'}' || :
  while ((SECONDS < end)) && read -r -t "$((end - SECONDS))" -u 8 line; do
    [[ $line == *"\"id\":${session_id}"* ]] || continue # a notification
    answer=$("$mcp_bash" --helper jq -c \
      "select(.id == ${session_id} and has(\"method\") == false) | .result // {error}" <<<"$line")
    case $answer in
      '') continue ;;
      '{"error":'*)
        MCP_SESSION_ERROR=$answer
        return 1
        ;;
    esac
    MCP_SESSION_RESULT=$answer
    return 0
  done
  if ((SECONDS < end)); then
    exec 7>&- 8<&-
    wait "$session_pid" 2>/dev/null || status=$?
    MCP_SESSION_ERROR="the server ended, with exit status ${status}: $(<"${session_dir}/log")"
    session_pid=''
  else
    MCP_SESSION_ERROR="no answer within ${session_limit} seconds"
    session_write '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":'"${session_id}"'}}' || :
  fi
  return 1
}
