#!/usr/bin/env bash
# The built-in provider of ui resources, as a program: providers/ui.sh URI.
# shellcheck source=/dev/null
[[ -n ${MCPBASH_HELPER_BIN-} ]] || . "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../lib/program.sh" || exit
exec "$MCPBASH_HELPER_BIN" --helper provider ui "${1-}"
