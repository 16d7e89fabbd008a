# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Elicitation: questions to the user of the client.

__mcp_load common exchange numbers

__mcp_elicit() { # [--key NAME] MESSAGE SCHEMA [TIMEOUT] [MODE]
  __mcp_ask_user mcp_elicit "$@"
}

__mcp_elicit_url() { # [--key NAME] MESSAGE URL [TIMEOUT]
  __mcp_ask_user mcp_elicit_url "$@"
}

__mcp_ask_user() { # WHO [--key NAME] MESSAGE SCHEMA|URL [TIMEOUT] [MODE]
  local _who=$1 _key='' _request
  shift
  if [[ ${1-} == --key ]]; then
    case ${2-} in
      '' | *[!A-Za-z0-9_.-]*)
        __mcp_no_answer error "$_who: --key must be made of A-Z a-z 0-9 _ . -"
        return
        ;;
    esac
    _key=",\"key\":\"$2\""
    shift 2
  fi
  if [[ ${MCP_ELICIT_SUPPORTED-} != 1 ]]; then
    __mcp_called || __mcp_sdk_warn "$_who: there is no client to ask; $__mcp_by_hand"
    __mcp_no_answer decline "$_who: Client does not support elicitation"
    return
  elif [[ -z ${MCP_ELICIT_REQUEST_FILE-} || -z ${MCP_ELICIT_RESPONSE_FILE-} ]]; then
    __mcp_no_answer error "$_who: Elicitation environment not configured"
    return
  elif [[ $_who == mcp_elicit && ${4-} == url ]]; then
    __mcp_no_answer error 'mcp_elicit: mode url is what mcp_elicit_url is for'
    return
  fi
  __mcp_quote "${1-}"
  _request="{\"message\":$__mcp_reply"
  if [[ $_who == mcp_elicit_url ]]; then
    __mcp_quote "${2-}"
    _request="$_request,\"url\":$__mcp_reply,\"mode\":\"url\"$_key}"
  else
    _request="$_request,\"schema\":${2:-$__mcp_none},\"mode\":\"form\"$_key}"
  fi
  __mcp_decimal "${3-}" || __mcp_decimal "${MCP_ELICIT_DEFAULT_TIMEOUT-}" || __mcp_reply=30
  __mcp_await_user "$_who" "$_request" "$__mcp_reply"
}

__mcp_no_answer() { # ACTION [MESSAGE]
  [[ -z ${2-} ]] || printf '%s\n' "$2" >&2
  __mcp_reply="{\"action\":\"$1\",\"content\":null}"
  return 1
}

__mcp_await_user() { # WHO REQUEST SECONDS
  local _tenths=${3%%.*} _fraction=${3#*.} _rc=0
  [[ $3 == *.* ]] || _fraction=0
  case $_tenths in ??????????*) _tenths=999999999 ;; esac
  _tenths=$((10#$_tenths * 10 + ${_fraction:0:1}))
  __mcp_exchange "$MCP_ELICIT_REQUEST_FILE" "$2" "$MCP_ELICIT_RESPONSE_FILE" "$_tenths" || _rc=$?
  case $_rc in
    0) ;;
    1) __mcp_no_answer error "$1: Cannot write the request" ;;
    2) __mcp_no_answer error "$1: Timeout waiting for user response" ;;
    *) __mcp_no_answer cancel ;;
  esac
}

__mcp_elicit_field() { # KIND [--key NAME] MESSAGE [WORD...]
  local _kind=$1 _message _field='"choice"' _list='' _schema _option
  local -a _asking
  _asking=(mcp_elicit)
  shift
  if [[ ${1-} == --key ]]; then
    _asking=(mcp_elicit --key "${2-}")
    shift "$(($# > 1 ? 2 : 1))"
  fi
  _message=${1-}
  shift "$(($# > 0))"
  case $_kind in
    string)
      __mcp_quote "${1:-value}"
      _field=$__mcp_reply _schema='{"type":"string"}'
      ;;
    confirm) _field='"confirmed"' _schema='{"type":"boolean"}' ;;
    *)
      if (($# == 0)); then
        __mcp_no_answer error "mcp_elicit_$_kind: at least one option is required"
        return
      fi
      for _option; do
        if [[ $_kind == titled_* ]]; then
          __mcp_quote "${_option%%:*}"
          _list="$_list,{\"const\":$__mcp_reply,\"title\":"
          __mcp_quote "${_option#*:}"
          _list="$_list$__mcp_reply}"
        else
          __mcp_quote "$_option"
          _list="$_list,$__mcp_reply"
        fi
      done
      case $_kind in
        choice) _schema="{\"type\":\"string\",\"enum\":[${_list#,}]}" ;;
        titled_choice) _schema="{\"type\":\"string\",\"oneOf\":[${_list#,}]}" ;;
        multi_choice)
          _field='"choices"' _schema="{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[${_list#,}]}}"
          ;;
        *) _field='"choices"' _schema="{\"type\":\"array\",\"items\":{\"anyOf\":[${_list#,}]}}" ;;
      esac
      ;;
  esac
  __mcp_ask_user "${_asking[@]}" "$_message" \
    "{\"type\":\"object\",\"properties\":{$_field:$_schema},\"required\":[$_field]}"
}
