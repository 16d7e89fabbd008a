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

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/session.sh" || exit 1
# shellcheck disable=SC2154 # session.sh sets it
readonly mcp_bash
passed=0 failed=0 skipped=0 stopped='' nothing='{}'
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mcp-test.XXXXXX") || exit 1

# -- The functions for tests

began() { printf '  %s%s... ' "$1" "${2:+ ($2)}"; } # TOOL [DESCRIPTION]

pass() { # [DETAILS], which are always printed if they warn
  passed=$((passed + 1))
  echo PASS
  [[ $verbose == 0 || -z ${1-} ]] && [[ ${1-} != *'run-tool: warning: '* ]] || printf '    %s\n' "$1"
}

fail() { # [DETAILS]
  failed=$((failed + 1))
  echo FAIL
  [[ -z ${1-} ]] || printf '    %s\n' "$1" >&2
  return 1
}

run_test() { # TOOL [ARGS] [DESCRIPTION]
  local arguments=${2:-$nothing} result status=0
  began "$1" "${3-}"
  result=$("$mcp_bash" run-tool "$1" --allow-self --args "$arguments" --check --json 2>"${scratch}/stderr") || status=$?
  [[ ! -s ${scratch}/stderr ]] || result=${result}${result:+ }$(<"${scratch}/stderr")
  if [[ $status == 0 ]]; then pass "$result"; else fail "$result"; fi
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

# -- A session, whose calls count as tests; session.sh has the rest

mcp_session_start() { # [SECONDS]
  mcp_session_open "$@" && return
  began server 'start of a session'
  fail "$MCP_SESSION_ERROR"
}

mcp_session_call() { # TOOL [ARGS] [DESCRIPTION]
  began "$1" "${3-}"
  if mcp_session_tool "$1" "${2:-$nothing}"; then
    pass "$MCP_SESSION_RESULT"
  else
    fail "$MCP_SESSION_ERROR"
  fi
}

# -- The smoke tests of the tools

run_smoke_tests() {
  local smoke output
  for smoke in "${MCPBASH_TOOLS_DIR:-${MCPBASH_PROJECT_ROOT}/tools}"/{*,*/*}/smoke.sh; do
    [[ -f $smoke && -x $smoke ]] || continue
    began "$(basename "$(dirname "$smoke")")" 'smoke test'
    if output=$(MCPBASH_BIN=$mcp_bash "$smoke" 2>&1); then pass "$output"; else fail "$output"; fi
  done
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
run_smoke_tests

# -- The tests. For example:
#
#   run_test hello '{"name":"Ada"}' 'greets by name'
#   run_dry_run hello '{}'
#
#   mcp_session_start
#   mcp_session_call hello '{"name":"Ada"}' 'first call'
#   mcp_session_call hello '{"name":"Bob"}' 'second call of the same server'
#   mcp_session_end
