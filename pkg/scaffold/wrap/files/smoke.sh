#!/usr/bin/env bash
# Looks whether the tool could run: the program is there, and the sample of arguments fits. With run=yes it is run, too:
# give it arguments that do no harm here. Exit code 1: something is missing; 2: its answer is an error.
set -euo pipefail

tool='__NAME__'
program=__PROGRAM__
arguments=__ARGUMENTS__
run=no

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export MCPBASH_PROJECT_ROOT="${MCPBASH_PROJECT_ROOT:-$project}"

mcp_bash=${MCPBASH_BIN:-mcp-bash}
PATH=$project/bin:$PATH:${MCPBASH_HOME:-}/bin
cd "$project"
if ! command -v "$program" >/dev/null; then
  printf 'Smoke test FAILED: %s is not installed\n' "$program" >&2
  exit 1
fi
if ! report=$("$mcp_bash" run-tool "$tool" --allow-self --args "$arguments" --dry-run --check --json); then
  echo 'Smoke test FAILED: the tool cannot run' >&2
  printf '%s\n' "$report" >&2
  exit 1
fi
if [[ $run == yes ]] &&
  ! answer=$("$mcp_bash" run-tool "$tool" --allow-self --args "$arguments" --check --json); then
  echo 'Smoke test FAILED: the answer is an error' >&2
  printf '%s\n' "$answer" >&2
  exit 2
fi
echo "Smoke test passed for ${tool}."
