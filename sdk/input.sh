# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Requests to the client: mcp_input_request and mcp_input_wait for several requests, mcp_sample, mcp_roots_request.
#
# The queue has a line KEY TAB METHOD TAB PARAMS for each request. It is a file, because
# mcp_input_wait runs in $(...) and must empty it. Without a server it is a variable.

__mcp_load common exchange json numbers

__mcp_input_dir() { [[ -n ${MCP_INPUT_DIR-} && -d $MCP_INPUT_DIR ]]; }

__mcp_queued() {
  __mcp_reply=${__mcp_queue-}
  if __mcp_input_dir; then
    __mcp_reply=''
    [[ ! -f $MCP_INPUT_DIR/queue ]] || IFS= read -r -d '' __mcp_reply <"$MCP_INPUT_DIR/queue" || :
  fi
}

__mcp_input_request() { # KEY METHOD [PARAMS]
  local _key=${1-} _method=${2-} _line _all='' _new=1
  __mcp_input_key mcp_input_request "$_key" || return
  case $_method in
    elicitation/create | sampling/createMessage | roots/list) ;;
    *)
      __mcp_input_wrong 'mcp_input_request: METHOD must be elicitation/create, sampling/createMessage or roots/list'
      return
      ;;
  esac
  __mcp_input_object mcp_input_request PARAMS "${3:-$__mcp_none}" || return
  _new="$_key$__mcp_tab$_method$__mcp_tab$__mcp_reply$__mcp_nl"
  __mcp_queued
  while IFS= read -r _line; do
    case $_line in
      '') continue ;;
      "$_key$__mcp_tab"*) _all=$_all$_new _new='' ;; # replaces the earlier request
      *) _all=$_all$_line$__mcp_nl ;;
    esac
  done <<<"$__mcp_reply"
  __mcp_reply=''
  if __mcp_input_dir; then
    printf %s "$_all$_new" >|"$MCP_INPUT_DIR/queue"
  else
    __mcp_queue=$_all$_new
  fi
}

__mcp_input_wrong() { # MESSAGE
  printf '%s\n' "$1" >&2
  __mcp_reply=''
  return 2
}

__mcp_input_key() { # WHO KEY
  if [[ -z $2 || $2 == *[!A-Za-z0-9_.-]* || ${#2} -gt 64 ]]; then
    __mcp_input_wrong "$1: KEY must be 1 to 64 of A-Z a-z 0-9 _ . -"
  fi
}

__mcp_input_object() { # WHO WHAT JSON
  if ! __mcp_compact "$3" || [[ $__mcp_reply != \{* ]]; then
    __mcp_input_wrong "$1: $2 must be a JSON object"
  fi
}

__mcp_input_wait() {
  local _keys='' _key _method _params _batch=''
  __mcp_queued
  if [[ -z $__mcp_reply ]]; then
    __mcp_input_wrong 'mcp_input_wait: nothing is queued (mcp_input_request does that)'
    return
  fi
  while IFS=$__mcp_tab read -r _key _method _params; do
    [[ -n $_key ]] || continue
    _keys="$_keys $_key" _batch="$_batch,\"$_key\":{\"method\":\"$_method\",\"params\":$_params}"
  done <<<"$__mcp_reply"
  __mcp_queue=''
  ! __mcp_input_dir || rm -f "$MCP_INPUT_DIR/queue"
  __mcp_ask_client "{${_batch#,}}" "$_keys" '' ''
}

__mcp_ask_client() { # BATCH KEYS SECONDS KEY: without SECONDS no limit, without KEY all responses
  local _keys=$2 _tenths=-1 _one=$4 _rc=0
  if ! __mcp_input_dir; then
    __mcp_called || __mcp_sdk_warn "tool-sdk: there is no client to ask; $__mcp_by_hand"
    __mcp_no_answers -32601 'Not supported by the client'
    return
  fi
  if [[ -n $3 ]]; then
    _tenths=${3%%.*}
    case $_tenths in ????????*) _tenths=9999999 ;; esac
    _tenths=$((10#$_tenths * 10))
  fi
  __mcp_exchange "$MCP_INPUT_DIR/batch.request" "$1" "$MCP_INPUT_DIR/batch.response" "$_tenths" || _rc=$?
  case $_rc in
    0) ;;
    1) __mcp_no_answers -32603 'Cannot write the request' ;;
    2) __mcp_no_answers -32001 'Timed out' ;;
    *) __mcp_no_answers -32001 Cancelled ;;
  esac
  ((_rc == 0)) || return 1
  __mcp_helper answers ${_one:+"$_one"} <<<"$__mcp_reply" || _rc=1
  [[ -n $__mcp_reply ]] || __mcp_no_answers -32603 'The answer cannot be read' || _rc=1
  return "$_rc"
}

__mcp_no_answers() { # CODE MESSAGE
  local _key _error="{\"error\":{\"code\":$1,\"message\":\"$2\"}}"
  __mcp_reply=''
  for _key in $_keys; do __mcp_reply="$__mcp_reply,\"$_key\":$_error"; done
  __mcp_reply="{${__mcp_reply#,}}"
  [[ -z $_one ]] || __mcp_reply=$_error
  return 1
}

__mcp_sample() { # [--key NAME] [--system TEXT] [--max-tokens N] [--timeout S] TEXT | --params JSON
  local _key=sample _system='' _tokens=1024 _timeout='' _params='' _text='' _options=1
  while (($#)); do
    case $_options$1 in
      1--key | 1--system | 1--max-tokens | 1--timeout | 1--params)
        if (($# < 2)); then
          __mcp_input_wrong "mcp_sample: $1 requires a value"
          return
        fi
        case $1 in
          --key) _key=$2 ;;
          --system) _system=$2 ;;
          --max-tokens) _tokens=$2 ;;
          --timeout) _timeout=$2 ;;
          *) _params=$2 ;;
        esac
        shift
        ;;
      1--) _options='' ;;
      1--*)
        __mcp_input_wrong "mcp_sample: Unknown option: $1 (a TEXT that begins with -- goes after --)"
        return
        ;;
      *)
        if [[ -n $_text ]]; then
          __mcp_input_wrong 'mcp_sample: one TEXT, in quotes'
          return
        fi
        _text=$1
        ;;
    esac
    shift
  done
  __mcp_input_key mcp_sample "$_key" || return
  __mcp_input_timeout mcp_sample || return
  if [[ -n $_params && -n $_text || -z $_params$_text ]]; then
    __mcp_input_wrong 'mcp_sample: give either a TEXT or --params JSON'
    return
  elif [[ -n $_params ]]; then
    __mcp_input_object mcp_sample --params "$_params" || return
  else
    case $_tokens in
      '' | *[!0-9]* | 0* | ??????????????*)
        __mcp_input_wrong 'mcp_sample: --max-tokens must be a positive integer'
        return
        ;;
    esac
    __mcp_quote "$_text"
    _text="{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":$__mcp_reply}}]"
    _text="$_text,\"maxTokens\":$_tokens"
    if [[ -n $_system ]]; then
      __mcp_quote "$_system"
      _text="$_text,\"systemPrompt\":$__mcp_reply"
    fi
    __mcp_reply="$_text}"
  fi
  _params="{\"method\":\"sampling/createMessage\",\"params\":$__mcp_reply}"
  __mcp_ask_client "{\"$_key\":$_params}" "$_key" "$_timeout" "$_key"
}

__mcp_roots_request() { # [--key NAME] [--timeout S]
  local _key=roots _timeout=''
  while (($#)); do
    case $1:$# in
      --key:[!1]* | --key:1?*) _key=$2 ;;
      --timeout:[!1]* | --timeout:1?*) _timeout=$2 ;;
      *)
        __mcp_input_wrong "mcp_roots_request: Unexpected argument, or one without its value: $1"
        return
        ;;
    esac
    shift 2
  done
  __mcp_input_key mcp_roots_request "$_key" || return
  __mcp_input_timeout mcp_roots_request || return
  __mcp_ask_client "{\"$_key\":{\"method\":\"roots/list\",\"params\":{}}}" "$_key" "$_timeout" "$_key"
}

# Stores the timeout in _timeout: the given one, else 120 s or the server's limit for users if it is longer.
__mcp_input_timeout() { # WHO
  if [[ -n $_timeout ]]; then
    __mcp_decimal "$_timeout" || { __mcp_input_wrong "$1: --timeout must be a number of seconds" || return; }
    _timeout=$__mcp_reply
    return
  fi
  _timeout=120
  __mcp_decimal "${MCP_ELICIT_DEFAULT_TIMEOUT-}" && __mcp_reply=${__mcp_reply%%.*} || return 0
  if ((${#__mcp_reply} > 3)) || ((${#__mcp_reply} == 3 && __mcp_reply > 120)); then _timeout=$__mcp_reply; fi
}
