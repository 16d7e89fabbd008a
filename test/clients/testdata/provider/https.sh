#!/usr/bin/env bash
# A stand-in for the https provider: it serves made-up pages by the rules of
# SDK-162 and SDK-163, and reaches no network.
set -euo pipefail
host=${1#https://} host=${host%%/*}

case ",${MCPBASH_HTTPS_ALLOW_HOSTS-}," in
  *",${host},"*) ;;
  *) exit 4 ;;
esac
case $1 in
  */page) printf 'at most %s bytes in %s seconds\n' "$MCPBASH_HTTPS_MAX_BYTES" "$MCPBASH_HTTPS_TIMEOUT" ;;
  */moved)
    echo 'redirect:https://elsewhere.example/page' >&2
    exit 7
    ;;
  */large) exit 6 ;;
  */flaky)
    if mkdir "${TMPDIR}/was-here" 2>/dev/null; then
      echo 'connection reset' >&2
      exit 5
    fi
    echo 'at last'
    ;;
  *)
    echo 'no such page' >&2
    exit 5
    ;;
esac
