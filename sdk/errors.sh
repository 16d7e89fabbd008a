# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Errors: mcp_fail, which ends the tool, and the results of mcp_result_error and mcp_error.

__mcp_load common

__mcp_fail() { # [CODE [MESSAGE [DATA]]]
  local _code=${1-} _message=${2:-Tool failed} _data=null
  case ${_code#[-+]} in
    '' | *[!0-9]*) _code=-32603 ;;
    *)
      __mcp_load numbers
      __mcp_uint "${_code#[-+]}"
      case $_code in -*[1-9]*) _code=-$__mcp_reply ;; *) _code=$__mcp_reply ;; esac
      ;;
  esac
  if [[ -n ${3-} ]]; then
    if ! __mcp_full; then
      _data=$3
    else
      __mcp_load json
      ! __mcp_compact "$3" || _data=$__mcp_reply
    fi
  fi
  __mcp_quote "$_message"
  __mcp_reply="{\"code\":$_code,\"message\":$__mcp_reply,\"data\":$_data}$__mcp_nl"
  if [[ -w ${MCP_TOOL_ERROR_FILE-} ]]; then
    { printf %s "$__mcp_reply" >|"$MCP_TOOL_ERROR_FILE"; } 2>/dev/null
  fi
  if [[ -n $__mcp_said ]]; then
    printf 'mcp_fail: %s has printed a result before; the client gets this error instead:\n' "$__mcp_said" >&2
  fi
  printf '%s\n' "$_message" >&2
}

__mcp_result_error() { # ERROR
  local _error=${1-} _message='' _pattern='"message"[[:space:]]*:[[:space:]]*("([^"\]|\\.)*")'
  __mcp_load results
  __mcp_alone mcp_result_error
  if ! __mcp_full; then
    [[ ! $_error =~ $_pattern ]] || _message=${BASH_REMATCH[1]}
    __mcp_plain "$_message" || __mcp_reply='"Unknown error"'
    __mcp_minimal_error "$__mcp_reply" "$_error"
  elif [[ -z $_error ]]; then
    __mcp_internal_error 'Unknown error (empty error object)'
  elif __mcp_plain "$_error" && __mcp_plain_message "$__mcp_reply"; then
    _message=$__mcp_reply
    __mcp_plain "$_error"
    __mcp_error_result "$_message" "$__mcp_reply"
  elif __mcp_helper error <<<"$_error"; then
    __mcp_reply=$__mcp_reply$__mcp_nl
  else
    __mcp_quote "$_error"
    _message='"Invalid error JSON passed to mcp_result_error"'
    __mcp_error_result "$_message" "{\"type\":\"internal_error\",\"message\":$_message,\"raw\":$__mcp_reply}"
  fi
}

__mcp_minimal_error() { # MESSAGE ERROR: the message is a JSON string, the error is text
  local _message=$1
  __mcp_quote "$2"
  __mcp_error_result "$_message" "{\"type\":\"internal_error\",\"message\":$_message,\"raw\":$__mcp_reply}"
}

# The message of a compact object of scalars with a type and a message, as a JSON string. rc 1 for any other value.
__mcp_plain_message() { # OBJECT
  local _text=${1//"$__mcp_bsbs"/"$__mcp_stx"} _key _value _type='' IFS=\"
  _text=${_text//"$__mcp_bquot"/"$__mcp_etx"}
  __mcp_reply=''
  # shellcheck disable=SC2086
  set -- $_text
  [[ $1 == \{ ]] || return 1
  while (($# > 2)); do
    _key=$2
    case $3 in
      :) _value=\"$4\" && shift 2 ;;
      *[\[\{]*) return 1 ;;
      *) _value=${3#:} && _value=\"${_value%[,\}]}\" ;;
    esac
    shift 2
    case $_key=$_value in
      type=\"false\" | type=\"null\" | message=\"false\" | message=\"null\") return 1 ;; # possibly the strings
      type=*) _type=$_value ;;
      message=*) __mcp_reply=$_value ;;
    esac
  done
  [[ -n $_type && -n $__mcp_reply ]] || return 1
  __mcp_reply=${__mcp_reply//"$__mcp_etx"/"$__mcp_bquot"}
  __mcp_reply=${__mcp_reply//"$__mcp_stx"/"$__mcp_bsbs"}
}

__mcp_error() { # [TYPE] [MESSAGE] [--hint TEXT] [--data JSON]
  local _type=${1:-internal_error} _message=${2:-Unknown error} _hint='' _data='' _object _text
  __mcp_load results
  __mcp_alone mcp_error
  shift "$(($# > 2 ? 2 : $#))"
  while (($#)); do
    case $1 in
      --hint) _hint=${2-} && shift "$(($# > 1))" ;;
      --data) _data=${2-} && shift "$(($# > 1))" ;;
    esac
    shift
  done
  mcp_log_debug mcp_error "type=$_type: $_message"
  [[ -z $_hint ]] || mcp_log_warn mcp_error "type=$_type hint: $_message"

  __mcp_quote "$_type"
  _object="{\"type\":$__mcp_reply"
  __mcp_quote "$_message"
  _text=$__mcp_reply _object="$_object,\"message\":$__mcp_reply"
  if [[ -n $_hint ]]; then
    __mcp_quote "$_hint"
    _object="$_object,\"hint\":$__mcp_reply"
  fi
  if [[ -n $_data ]]; then
    if ! __mcp_full; then
      __mcp_reply=$_data
    elif ! __mcp_compact "$_data"; then
      __mcp_quote "$_data"
      __mcp_reply="{\"_invalid_json\":$__mcp_reply}"
    fi
    [[ $__mcp_reply == null ]] || _object="$_object,\"data\":$__mcp_reply"
  fi
  if __mcp_full; then
    __mcp_error_result "$_text" "$_object}"
  else
    __mcp_minimal_error "$_text" "$_object}"
  fi
}
