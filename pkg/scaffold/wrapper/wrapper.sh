#!/usr/bin/env bash
# Starts the server of this folder: put the path of this file into your MCP client as the
# command. Made by mcp-bash config.
set -euo pipefail

self=${BASH_SOURCE[0]}
while [[ -L $self ]]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
here=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P)

# PROFILES
program=$(type -P mcp-bash || true)
for candidate in "${HOME:-}/.local/bin/mcp-bash" "${MCPBASH_HOME:-}/bin/mcp-bash"; do
  if [[ -z $program && -f $candidate && -x $candidate ]]; then
    program=$candidate
  fi
done
if [[ -z $program ]]; then
  echo 'Error: mcp-bash not found in PATH or ~/.local/bin' >&2
  echo 'Install: see README for download and verification instructions' >&2
  exit 1
fi

export MCPBASH_PROJECT_ROOT=$here
export MCPBASH_TOOL_ALLOWLIST=${MCPBASH_TOOL_ALLOWLIST:-*}
exec "$program" "$@"
