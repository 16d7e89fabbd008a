#!/usr/bin/env bash
# Prints a folder with Debian's prometheus and promtool. Their package is not installed, because that would start a
# service. It is downloaded once, into a cache folder.
set -euo pipefail
dir=${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-test-prometheus
if [ ! -d "$dir" ]; then
  mkdir -p "${dir%/*}"
  new=$(mktemp -d "$dir.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  cd "$new"
  { apt-get download prometheus || { apt-get update && apt-get download prometheus; }; } >&2
  dpkg -x prometheus_*.deb .
  rm prometheus_*.deb
  mv -T "$new" "$dir"
fi
echo "$dir/usr/bin"
