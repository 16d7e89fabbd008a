#!/usr/bin/env bash
# Tests the tools of this project; README.md explains how. The tests are at the end.
set -uo pipefail

verbose=${VERBOSE:-0}
force=${FORCE:-0}
while (($#)); do
  case $1 in
    -v | --verbose) verbose=1 ;;
    -f | --force) force=1 ;;
    *)
      echo "run.sh: unknown option: $1 (there are --verbose and --force)" >&2
      exit 2
      ;;
  esac
  shift
done

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P) || exit 1
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

mcp_bash=$(find_mcp_bash) || exit 1
passed=0 failed=0 skipped=0 stopped='' nothing='{}'
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mcp-test.XXXXXX") || exit 1

# -- The functions for tests

began() { printf '  %s%s... ' "$1" "${2:+ ($2)}"; } # TOOL [DESCRIPTION]

pass() { # [DETAILS]
  passed=$((passed + 1))
  echo PASS
  [[ $verbose == 0 || -z ${1-} ]] || printf '    %s\n' "$1"
}

fail() { # [DETAILS]
  failed=$((failed + 1))
  echo FAIL
  [[ -z ${1-} ]] || printf '    %s\n' "$1" >&2
  return 1
}

run_test() { # TOOL [ARGS] [DESCRIPTION]
  local arguments=${2:-$nothing} result
  began "$1" "${3-}"
  if result=$("$mcp_bash" run-tool "$1" --allow-self --args "$arguments" --check --json 2>"${scratch}/stderr"); then
    pass "$result"
  else
    fail "${result}${result:+ }$(<"${scratch}/stderr")"
  fi
}

run_dry_run() { # TOOL [ARGS]
  local arguments=${2:-$nothing} report
  began "$1" 'dry run'
  if report=$("$mcp_bash" run-tool "$1" --allow-self --args "$arguments" --dry-run --check --json 2>&1); then
    pass "$report"
  else
    fail "$report"
  fi
}

skip_test() { # TOOL [REASON]
  skipped=$((skipped + 1))
  began "$1" "${2-}"
  echo SKIP
}

# -- A session: one server, several calls, over file descriptors 7 (to it) and 8 (from it)

session_pid='' session_limit=10 session_id=0 MCP_SESSION_RESULT=''
# shellcheck disable=SC2016 # the variables are those of jq
call='{name: $name, arguments: $arguments}'
hello='{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"run.sh","version":"1"}}'

mcp_session_start() { # [SECONDS]
  [[ -z $session_pid ]] || mcp_session_end
  session_limit=${1:-10} session_id=0
  rm -f "${scratch}/in" "${scratch}/out"
  mkfifo "${scratch}/in" "${scratch}/out" || return 1
  (
    unset MCPBASH_REMOTE_TOKEN
    MCPBASH_TOOL_ALLOWLIST="${MCPBASH_TOOL_ALLOWLIST:-*}" exec "$mcp_bash"
  ) <"${scratch}/in" >"${scratch}/out" 2>"${scratch}/log" &
  session_pid=$!
  exec 7>"${scratch}/in" 8<"${scratch}/out"
  if ! session_request initialize "$hello"; then
    began server 'start of a session'
    fail "${session_fault} $(<"${scratch}/log")"
    return 1
  fi
  session_write '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}

mcp_session_call() { # TOOL [ARGS] [DESCRIPTION]
  local arguments=${2:-$nothing} parameters
  MCP_SESSION_RESULT=''
  began "$1" "${3-}"
  if [[ -z $session_pid ]]; then
    fail 'no session: call mcp_session_start first'
  elif ! parameters=$("$mcp_bash" --helper jq -nc --arg name "$1" --argjson arguments "$arguments" \
    "$call" 2>/dev/null); then
    fail "the arguments are not JSON: ${arguments}"
  elif ! session_request tools/call "$parameters"; then
    fail "$session_fault"
  else
    # shellcheck disable=SC2034 # it is for the tests
    MCP_SESSION_RESULT=$session_result
    if "$mcp_bash" --helper jq -e '.isError != true' <<<"$session_result" >/dev/null; then
      pass "$session_result"
    else
      fail "$session_result"
    fi
  fi
}

mcp_session_end() {
  local end=$((SECONDS + 5)) line
  [[ -n $session_pid ]] || return 0
  exec 7>&-
  while read -r -t 5 -u 8 line; do :; done # until it has ended
  ((SECONDS < end)) || kill "$session_pid" 2>/dev/null
  exec 8<&-
  wait "$session_pid" 2>/dev/null
  session_pid=''
}

session_write() { # LINE: not to a server that is gone
  local written
  trap '' PIPE
  printf '%s\n' "$1" >&7 2>/dev/null
  written=$?
  trap - PIPE
  return "$written"
}

session_request() { # METHOD PARAMETERS: leaves session_result, or session_fault
  local line end=$((SECONDS + session_limit)) answer
  session_id=$((session_id + 1)) session_result='' session_fault=''
  session_write '{"jsonrpc":"2.0","id":'"${session_id}"',"method":"'"$1"'","params":'"$2"'}'
  while ((SECONDS < end)) && read -r -t "$((end - SECONDS))" -u 8 line; do
    [[ $line == *"\"id\":${session_id}"* ]] || continue # a notification
    answer=$("$mcp_bash" --helper jq -c \
      "select(.id == ${session_id} and has(\"method\") == false) | .result // {error}" <<<"$line")
    case $answer in
      '') continue ;;
      '{"error":'*)
        session_fault=$answer
        return 1
        ;;
    esac
    session_result=$answer
    return 0
  done
  if ((SECONDS < end)); then
    exec 7>&- 8<&-
    wait "$session_pid" 2>/dev/null
    session_fault="the server ended, with exit status $?: $(<"${scratch}/log")"
    session_pid=''
  else
    session_fault="no answer within ${session_limit} seconds"
    session_write '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":'"${session_id}"'}}'
  fi
  return 1
}

# -- The run

finish() {
  mcp_session_end
  rm -rf "$scratch"
  [[ -z $stopped ]] || exit 1
  printf '\nResults: %d passed, %d failed' "$passed" "$failed"
  ((skipped == 0)) || printf ', %d skipped' "$skipped"
  echo
  ((failed == 0)) || exit 1
  exit 0
}
trap finish EXIT
trap 'stopped=1; exit 1' INT TERM

echo 'Discovering tools...'
if ! report=$("$mcp_bash" validate --project-root "$MCPBASH_PROJECT_ROOT" 2>&1); then
  case $report in
    *'is not available in this installation'*) echo '  not checked: this installation has no "mcp-bash validate"' ;;
    *)
      printf '%s\n' "$report"
      echo 'Validation failed.'
      if [[ $force == 0 ]]; then
        echo 'Fix the errors, or run the tests anyway with --force.'
        stopped=1
        exit 1
      fi
      ;;
  esac
fi

echo 'Running tests...'

# -- The tests. For example:
#
#   run_test hello '{"name":"Ada"}' 'greets by name'
#   run_dry_run hello '{}'
#
#   mcp_session_start
#   mcp_session_call hello '{"name":"Ada"}' 'first call'
#   mcp_session_call hello '{"name":"Bob"}' 'second call of the same server'
#   mcp_session_end
