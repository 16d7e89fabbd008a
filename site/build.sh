#!/usr/bin/env bash
# Builds the documentation as static HTML with search into the folder given. Needs npm, which
# installs VitePress into a cache folder. The pages themselves use no network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 1 ] || { echo "usage: site/build.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

modules=$("$here/../test/npm/install.sh")
stage=$(mktemp -d "${TMPDIR:-/tmp}/mcp-bash-site.XXXXXX")
trap 'rm -rf "$stage"' EXIT
ln -s "$modules/node_modules" "$stage/node_modules"
"$modules/node_modules/.bin/node" "$here/stage.mjs" "$here/.." "$stage"
mkdir "$stage/.vitepress"
cp "$here/config.mjs" "$stage/.vitepress/"
cd "$stage"
SITE_OUT=$out node_modules/.bin/node node_modules/.bin/vitepress build . >"$stage/log" 2>&1 || { cat "$stage/log" >&2; exit 1; }
