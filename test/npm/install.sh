#!/usr/bin/env bash
# Installs the packages of a package.json into a cache folder and prints the folder. It does nothing if they are
# installed. The package.json is next to this script, or in the given directory, which also names the
# cache folder. MCPBASH_TEST_NPM names another cache folder.
set -euo pipefail
here=$(cd "${1:-$(dirname "${BASH_SOURCE[0]}")}" && pwd)
folder=${MCPBASH_TEST_NPM:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-test-$(basename "$here")}
done=$folder/installed.json # a copy of package.json, made when all went well

fail() {
  printf 'test/npm: %s\n' "$@" >&2
  exit 1
}

if ! cmp -s "$here/package.json" "$done"; then
  command -v npm >/dev/null || fail "npm is needed to install the packages of $here/package.json, and is not here."
  echo "test/npm: installing the packages of $here/package.json into $folder" >&2
  mkdir -p "$folder"
  rm -f "$done"
  cp "$here/package.json" "$folder/package.json"
  # The node that runs npm may be older than what the packages ask for: they run
  # under the node that is installed with them.
  npm install --prefix "$folder" --no-audit --no-fund --no-update-notifier --engine-strict=false \
    --fetch-retries=1 --loglevel=error >"$folder/install.log" 2>&1 ||
    fail 'npm could not install the packages. Can it reach its registry?' "$(tail -n 8 "$folder/install.log")"
  "$folder/node_modules/.bin/node" --version >/dev/null || fail 'the node that was installed does not run.'
  cp "$here/package.json" "$done"
fi
printf '%s\n' "$folder"
