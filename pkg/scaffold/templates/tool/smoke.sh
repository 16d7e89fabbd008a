#!/usr/bin/env bash
# Runs the tool once and checks its result. Exit code 1: the arguments below are outdated, or the tool failed;
# 2: the result does not fit the outputSchema in tool.meta.json.
set -euo pipefail

tool='__NAME__'
arguments='{"name":"World"}'

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export MCPBASH_PROJECT_ROOT="${MCPBASH_PROJECT_ROOT:-$project}"

find_mcp_bash() {
  local candidate
  for candidate in "${MCPBASH_BIN:-}" "${project}/bin/mcp-bash" "$(command -v mcp-bash || :)" \
    "${MCPBASH_HOME:-}/bin/mcp-bash"; do
    if [[ -f $candidate && -x $candidate ]]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  echo 'mcp-bash not found; add to PATH or set MCPBASH_HOME.' >&2
  return 1
}

mcp_bash=$(find_mcp_bash)
run=("$mcp_bash" run-tool "$tool" --allow-self --args "$arguments" --check --json)

if ! problem=$("${run[@]}" --dry-run 2>&1); then
  case $problem in
    *'"arguments":"invalid"'*)
      echo 'Smoke test FAILED: the tool does not take these arguments. Change them in smoke.sh.' >&2
      ;;
    *) echo 'Smoke test FAILED: the tool cannot run.' >&2 ;;
  esac
  printf '%s\n' "$problem" >&2
  exit 1
fi
if answer=$("${run[@]}"); then
  echo "Smoke test passed for ${tool}."
  exit
fi

# A result that does not fit is an error of the server, not of the tool.
# shellcheck disable=SC2016 # the variables are those of jq
unfit='[.content[]?.text?, .message?] | any(type == "string" and test("^(Invalid output: |Tool output )"))'
if printf '%s\n' "$answer" | "$mcp_bash" --helper jq -e "$unfit" >/dev/null 2>&1; then
  echo 'Smoke test FAILED: output is not valid JSON or missing expected content.' >&2
  printf '%s\n' "$answer" >&2
  exit 2
fi
echo 'Smoke test FAILED: tool execution error' >&2
printf '%s\n' "$answer" >&2
exit 1
