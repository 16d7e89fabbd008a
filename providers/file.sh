#!/usr/bin/env bash
# The built-in provider of file resources, as a program: providers/file.sh URI.
# shellcheck source=/dev/null
[[ -n ${MCPBASH_HELPER_BIN-} ]] || . "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../lib/program.sh" || exit
exec "$MCPBASH_HELPER_BIN" --helper provider file "${1-}"
