#!/usr/bin/env bash
# Tests the server with the official TypeScript client, in both protocols, and with the MCP Inspector. Tests
# bundles with the official tool for them. It needs Go, Bash and npm; see install.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

MCPBASH_TEST_NPM=$("$here/install.sh")
MCPBASH_TEST_BIN=$(mktemp -d "${TMPDIR:-/tmp}/mcp-bash-test-bin.XXXXXX")
trap 'rm -rf "$MCPBASH_TEST_BIN"' EXIT
export MCPBASH_TEST_NPM MCPBASH_TEST_BIN

(cd "$here/../.." &&
  CGO_ENABLED=0 go build -trimpath -o "$MCPBASH_TEST_BIN/" ./cmd/mcp-bash ./cmd/mcp-bundle ./test/wire/tap)
# Three files at a time: each waits for the programs that it starts.
"$MCPBASH_TEST_NPM/node_modules/.bin/node" --test --test-concurrency=3 "$@" "$here"/*.test.mjs
