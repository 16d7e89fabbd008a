# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Temporary files.

__mcp_new_file() { # creates a private, empty temporary file and stores its name in __mcp_reply
  local _n
  for _n in 1 2 3 4 5 6 7 8 9; do
    __mcp_reply=${TMPDIR:-/tmp}/mcp-sdk.$$.$RANDOM$RANDOM
    ! (umask 077 && set -C && : >"$__mcp_reply") 2>/dev/null || return 0
  done
  __mcp_reply=''
  return 1
}
