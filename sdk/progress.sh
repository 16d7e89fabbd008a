# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Progress: mcp_progress.

__mcp_load common numbers

__mcp_progress() { # PERCENT [MESSAGE [TOTAL]]
  local _params
  [[ -n ${MCP_PROGRESS_TOKEN-} && -n ${MCP_PROGRESS_STREAM-} ]] || return 0
  if [[ $MCP_PROGRESS_TOKEN == "$__mcp_token" && -n ${MCPBASH_PROGRESS_TOKEN_JSON-} ]]; then
    __mcp_reply=$MCPBASH_PROGRESS_TOKEN_JSON
  elif __mcp_decimal "${MCP_PROGRESS_TOKEN#-}" && [[ $__mcp_reply == "${MCP_PROGRESS_TOKEN#-}" ]]; then
    __mcp_reply=$MCP_PROGRESS_TOKEN
  else
    __mcp_quote "$MCP_PROGRESS_TOKEN"
  fi
  _params="\"progressToken\":$__mcp_reply"
  __mcp_decimal "${1-}" || __mcp_reply=0
  case ${__mcp_reply%%.*} in ???*) __mcp_reply=100 ;; esac
  _params="$_params,\"progress\":$__mcp_reply"
  ! __mcp_decimal "${3-}" || _params="$_params,\"total\":$__mcp_reply"
  if (($# > 1)); then
    __mcp_quote "$2"
    _params="$_params,\"message\":$__mcp_reply"
  fi
  __mcp_reply=''
  _params="\"method\":\"notifications/progress\",\"params\":{$_params}"
  __mcp_append "$MCP_PROGRESS_STREAM" "{\"jsonrpc\":\"2.0\",$_params}"
}
