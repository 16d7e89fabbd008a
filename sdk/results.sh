# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Results: mcp_emit_json, mcp_result_success, and their envelopes.

__mcp_load common json numbers

__mcp_emit_json() { # JSON
  __mcp_said=mcp_emit_json
  if ! __mcp_full; then
    __mcp_reply=$1
  elif ! __mcp_compact "$1"; then
    __mcp_load misuse
    __mcp_no_json "$1"
    __mcp_reply=$1
  fi
}

__mcp_result() { # TEXT STRUCTURED IS_ERROR: the text is a JSON string
  __mcp_reply="{\"content\":[{\"type\":\"text\",\"text\":$1}],\"structuredContent\":$2,\"isError\":$3}$__mcp_nl"
}

__mcp_alone() { # WHO: an envelope must be the only output
  [[ -z $__mcp_said ]] || { __mcp_load misuse && __mcp_not_alone "$1"; }
  __mcp_said=$1
}

__mcp_result_success() { # DATA [MAX_TEXT_BYTES]
  local _data=${1-} _max _structured
  __mcp_alone mcp_result_success
  __mcp_limit "${2-}" MCPBASH_MAX_TEXT_BYTES 102400
  _max=$__mcp_reply
  if [[ -z $_data ]]; then
    __mcp_internal_error 'Empty data passed to mcp_result_success'
  elif ! __mcp_full; then
    _structured="{\"success\":true,\"result\":$_data}"
    __mcp_quote "$_structured"
    ((${#_structured} <= _max)) || __mcp_reply='"Success: response too large for text content"'
    __mcp_result "$__mcp_reply" "$_structured" false
  elif __mcp_plain "$_data" && ((${#__mcp_reply} + 26 <= _max)); then # 26 for the members around it
    _structured="{\"success\":true,\"result\":$__mcp_reply}"
    __mcp_quote "$_structured"
    __mcp_result "$__mcp_reply" "$_structured" false
  elif __mcp_helper success "$_max" <<<"$_data"; then
    __mcp_reply=$__mcp_reply$__mcp_nl
  else
    __mcp_internal_error 'Invalid JSON passed to mcp_result_success'
  fi
}

__mcp_internal_error() { # MESSAGE
  __mcp_quote "$1"
  __mcp_error_result "$__mcp_reply" "{\"type\":\"internal_error\",\"message\":$__mcp_reply}"
}

__mcp_error_result() { # TEXT ERROR: both are JSON
  __mcp_result "$1" "{\"success\":false,\"error\":$2}" true
}
