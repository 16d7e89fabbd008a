#!/usr/bin/env bash
# Makes the call of "trial" in tool.meta.json, which changes nothing: confined, without writing and without network.
# Exit code 1: it failed, or the tool cannot run.
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export MCPBASH_PROJECT_ROOT="${MCPBASH_PROJECT_ROOT:-$project}"

PATH=$project/bin:$PATH:${MCPBASH_HOME:-}/bin
cd "$project"
exec "${MCPBASH_BIN:-mcp-bash}" run-tool '__NAME__' --allow-self --trial --check
