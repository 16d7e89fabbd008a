# shellcheck shell=bash
# mcp_result_text_with_resource and the rest of the SDK, for scripts that source this file of the Bash edition by hand.
if ! declare -F mcp_result_text_with_resource >/dev/null; then
  __mcp_keep_options=1 # loading the SDK must not change the options of the script
  # shellcheck source=/dev/null
  . "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}../sdk/tool-sdk.sh"
  unset __mcp_keep_options
fi
