#!/usr/bin/env bash
mkdir -p "$MCPBASH_PROJECT_ROOT/pids"
: >"$MCPBASH_PROJECT_ROOT/pids/$$"
exec sleep 600
