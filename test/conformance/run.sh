#!/usr/bin/env bash
# Runs the official conformance suite against the server. Needs Go, Bash and npm;
# see ../npm/install.sh. Options go to the program here: -scenario NAME runs one
# scenario, -results DIR keeps what was found.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

npm=$("$here/../npm/install.sh")
bin=$(mktemp -d "${TMPDIR:-/tmp}/mcp-bash-conformance-bin.XXXXXX")
trap 'rm -rf "$bin"' EXIT

cd "$here/../.."
CGO_ENABLED=0 go build -trimpath -o "$bin/" ./cmd/mcp-bash ./test/conformance
"$bin/conformance" -server "$bin/mcp-bash" "$@" "$npm/node_modules/.bin/node" "$npm/node_modules/.bin/conformance"
