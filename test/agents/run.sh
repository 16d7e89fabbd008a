#!/usr/bin/env bash
# Connects the agents of package.json with a scaffolded project, each by mcp-scaffold config
# alone, and asks them whether they see it. Needs Go, Bash and npm; no account with anybody.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

AGENTS=$(MCPBASH_TEST_NPM="" "$here/../npm/install.sh" "$here")
BIN=$(mktemp -d "${TMPDIR:-/tmp}/mcp-bash-agents-bin.XXXXXX")
trap 'rm -rf "$BIN"' EXIT
export AGENTS BIN

cd "$here/../.."
go build -o "$BIN/" ./cmd/mcp-scaffold ./cmd/mcp-bundle ./test/wire/tap
go build -o "$BIN/real/" ./cmd/mcp-bash
# Plugins get the server's program for this system.
runtime=$BIN/runtimes/$(go env GOOS)-$(go env GOARCH)
mkdir -p "$runtime"
cp "$BIN/real/mcp-bash" "$runtime/"
# The agents start the server through the tap, which records their messages, and the script their roots.
mkdir "$BIN/said"
cat >"$BIN/mcp-bash" <<END
#!/bin/sh
[ -z "\$MCPBASH_ROOTS" ] || printf '= %s\n' "\$MCPBASH_ROOTS" >"$BIN/said/\$\$.roots"
exec "$BIN/tap" "$BIN/said" "$BIN/real/mcp-bash" "\$@"
END
chmod 755 "$BIN/mcp-bash"
"$AGENTS/node_modules/.bin/node" --test --test-reporter=spec "$@" "$here"/*.test.mjs
