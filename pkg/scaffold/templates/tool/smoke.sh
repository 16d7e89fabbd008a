#!/usr/bin/env bash
# Runs the tool once and looks whether it answers. Exit code 1: it failed; 2: its answer is not what it should be.
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

if ! answer=$("$mcp_bash" run-tool "$tool" --allow-self --args "$arguments" --json); then
  echo 'Smoke test FAILED: tool execution error' >&2
  printf '%s\n' "$answer" >&2
  exit 1
fi

# shellcheck disable=SC2016 # the variables are those of jq
# The result is the structured content, or else the text.
good='(.structuredContent // (.content[0].text | fromjson)) as $result
  | .isError != true
    and ([$result | .result?.message?, .message?, .text?] | any(type == "string" and length > 0))'
if ! printf '%s\n' "$answer" | "$mcp_bash" --helper jq -e "$good" >/dev/null 2>&1; then
  echo 'Smoke test FAILED: output is not valid JSON or missing expected content.' >&2
  printf '%s\n' "$answer" >&2
  exit 2
fi
echo "Smoke test passed for ${tool}."
