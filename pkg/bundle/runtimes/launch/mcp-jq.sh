#!/bin/sh
# The jq-compatible program of mcp-bash, for scripts that nothing else started.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self") || exit 1
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
server=$(dirname -- "$self")/mcp-bash
case ${1-} in
  --helper) exec "$server" "$@" ;;
  *) exec "$server" --helper jq "$@" ;;
esac
