# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of tool-sdk.sh
# Sets MCPBASH_HELPER_BIN to the path of mcp-bash for scripts that mcp-bash did not start. The search is the SDK's.
# Returns 127 if mcp-bash is not found.
if [[ ! -f ${MCPBASH_HELPER_BIN-} || ! -x ${MCPBASH_HELPER_BIN-} ]]; then
  if ! declare -F __mcp_load >/dev/null; then
    __mcp_keep_options=1 # loading the SDK must not change the options of the script
    # shellcheck source=/dev/null
    . "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../sdk/tool-sdk.sh"
    unset __mcp_keep_options
  fi
  __mcp_load common
  if ! __mcp_program; then
    printf 'mcp-bash is neither in %s/../bin nor on PATH\n' "$__mcp_dir" >&2
    return 127
  fi
  MCPBASH_HELPER_BIN=$__mcp_bin
fi
