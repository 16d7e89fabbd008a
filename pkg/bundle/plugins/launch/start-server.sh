#!/bin/sh
# Starts the server of this plugin. Agents run it; it prints nothing.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self") || exit 1
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
here=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P) || exit 1

# The server never takes this folder for the user's folder.
MCPBASH_PLUGIN_ROOT=$here
MCPBASH_TOOL_ALLOWLIST=${MCPBASH_TOOL_ALLOWLIST:-*}
export MCPBASH_PLUGIN_ROOT MCPBASH_TOOL_ALLOWLIST
@settings@
exec "$here/server/run-server.sh" "$@"
