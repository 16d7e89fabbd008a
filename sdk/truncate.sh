# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Results that are too large: mcp_json_truncate.

__mcp_load common json numbers

__mcp_json_truncate() { # JSON [MAX_BYTES] [--array-path PATH]
  local _json='' _max='' _path='' _with_path='' _n=0
  while (($#)); do
    if [[ $1 == --array-path ]]; then
      _with_path=1
      case ${2-} in '' | --*) ;; *) _path=$2 && shift ;; esac
    else
      case $((_n++)) in 0) _json=$1 ;; 1) _max=$1 ;; esac
    fi
    shift
  done
  __mcp_limit "$_max" MCPBASH_MAX_TOOL_OUTPUT_SIZE 10485760
  _max=$__mcp_reply
  if [[ ${MCPBASH_MODE-} != minimal ]] && ! __mcp_full; then
    __mcp_reply="{\"result\":$_json,\"truncated\":false,\"_warning\":\"truncation unavailable: $__mcp_no_program\"}"
  elif ! __mcp_full; then
    __mcp_reply="{\"result\":$_json,\"truncated\":false,\"_warning\":\"truncation unavailable in minimal mode\"}"
  elif [[ -n $_with_path && -z $_path ]]; then
    __mcp_path_error '--array-path requires a value'
  elif [[ -n $_with_path && ! $_path =~ $__mcp_path_syntax ]]; then
    __mcp_path_error "Invalid path syntax: $_path (must be .key or .key.nested format)"
  elif [[ -n $_with_path ]]; then
    __mcp_helper truncate "$_max" "$_path" <<<"$_json"
  elif __mcp_plain "$_json" && ((${#__mcp_reply} <= _max)); then
    __mcp_reply="{\"result\":$__mcp_reply,\"truncated\":false}"
  else
    __mcp_helper truncate "$_max" <<<"$_json"
  fi
  __mcp_reply=$__mcp_reply$__mcp_nl
}

__mcp_path_syntax='^(\.[A-Za-z_][A-Za-z0-9_]*)+$'

__mcp_path_error() { # MESSAGE
  __mcp_quote "$1"
  __mcp_truncate_error invalid_path_syntax "$__mcp_reply"
}

__mcp_truncate_error() { # TYPE MESSAGE: the message is a JSON string, and may be followed by other members of the error
  __mcp_reply="{\"result\":null,\"truncated\":false,\"error\":{\"type\":\"$1\",\"message\":$2}}"
}
