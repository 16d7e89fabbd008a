# shellcheck shell=bash
# The functions of MCP Apps, for scripts that source this file of the Bash edition. tool-sdk.sh has them too.
if ! declare -F __mcp_load >/dev/null; then
  __mcp_keep_options=1 # loading the SDK must not change the script's options
  # shellcheck source=/dev/null
  . "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}tool-sdk.sh"
  unset __mcp_keep_options
fi
