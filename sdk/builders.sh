# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Objects and arrays with other values than strings: mcp_json_typed_obj, mcp_json_typed_arr.

__mcp_load json

__mcp_json_typed_obj() { # [KEY TYPE VALUE]...
  local _all='' _value
  if (($# % 3)); then
    __mcp_misuse "mcp_json_typed_obj: expected KEY TYPE VALUE ..., got $# words"
    return
  fi
  while (($#)); do
    __mcp_typed "mcp_json_typed_obj: $1" "$2" "$3" || return
    _value=$__mcp_reply
    __mcp_quote "$1"
    _all=$_all,$__mcp_reply:$_value
    shift 3
  done
  __mcp_reply="{${_all#,}}"
}

__mcp_json_typed_arr() { # [TYPE VALUE]...
  local _all='' _n=0
  if (($# % 2)); then
    __mcp_misuse "mcp_json_typed_arr: expected TYPE VALUE ..., got $# words"
    return
  fi
  while (($#)); do
    __mcp_typed "mcp_json_typed_arr: value $((++_n))" "$1" "$2" || return
    _all=$_all,$__mcp_reply
    shift 2
  done
  __mcp_reply="[${_all#,}]"
}

__mcp_typed() { # WHERE TYPE VALUE
  local _value=$3 _is="'${3:0:60}' is" _rc=0
  if [[ $2 == string ]]; then
    __mcp_quote "$3"
    return
  fi
  if [[ $2 != json ]]; then # some programs, such as wc, pad numbers
    _value=${_value#"${_value%%[!$__mcp_blank]*}"}
    _value=${_value%"${_value##*[!$__mcp_blank]}"}
  fi
  __mcp_reply=$_value
  case $2 in
    number) __mcp_is_number "$_value" || __mcp_misuse "$1: $_is not a number" ;;
    integer) [[ $_value != *[.Ee]* ]] && __mcp_is_number "$_value" || __mcp_misuse "$1: $_is not an integer" ;;
    boolean) [[ $_value == true || $_value == false ]] || __mcp_misuse "$1: $_is neither true nor false" ;;
    json)
      __mcp_compact "$_value" || _rc=$?
      ((_rc != 1)) || __mcp_misuse "$1: $_is not one JSON value"
      ;;
    *) __mcp_misuse "$1: '$2' is not a type; there are string, number, integer, boolean, json" ;;
  esac
}

__mcp_misuse() { # MESSAGE: reports an error of the tool, not of its caller
  __mcp_reply='' __mcp_failure=$1 __mcp_refusal=__mcp_refuse_misuse
  return 1
}

__mcp_refuse_misuse() { # MESSAGE
  __mcp_refusal=mcp_fail_invalid_args
  mcp_fail -32603 "$1"
}
