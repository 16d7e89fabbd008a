#!/bin/sh
# Runs the mcp-bash of the system this is started on.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self") || exit 1
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
here=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P) || exit 1

os=$(uname -s)
case $os in
  Darwin) os=darwin ;;
  Linux) os=linux ;;
  MINGW* | MSYS* | CYGWIN* | Windows*) os=windows ;;
esac
arch=$(uname -m)
case $arch in
  x86_64 | amd64) arch=amd64 ;;
  arm64 | aarch64) arch=arm64 ;;
esac

program=$here/$os-$arch/mcp-bash
[ "$os" = windows ] && program=$here/$os-$arch/mcp-bash.exe
# Windows on ARM runs programs for amd64.
[ "$os" = windows ] && [ ! -f "$program" ] && program=$here/windows-amd64/mcp-bash.exe
if [ ! -f "$program" ]; then
  printf 'mcp-bash: no binary for %s-%s in this bundle\n' "$os" "$arch" >&2
  exit 1
fi
exec "$program" "$@"
