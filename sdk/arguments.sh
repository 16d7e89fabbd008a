# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Arguments and _meta: their text, and filters that the fast path in tool-sdk.sh does not answer.
# The flat table answers simple filters. All other filters need a program.

__mcp_load common getters

__mcp_slow_get() { # AS FILTER [ARG...]
  local _as=$1 _rc=0 _ask=__mcp_argument
  shift
  [[ $_as != __mcp_as_get ]] || _ask='__mcp_query ARGS'
  $_ask "${1-}" || _rc=$?
  case $_rc in 0) ;; 1) __mcp_kind='?' __mcp_reply='' ;; *) __mcp_kind=- __mcp_reply='' ;; esac
  if [[ $_as == __mcp_as_get && $_rc -eq 1 ]]; then
    __mcp_no_tool mcp_args
  elif [[ $_as == __mcp_as_get && $_rc -ne 0 ]]; then
    __mcp_payload MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$__mcp_none"
    __mcp_characters "$__mcp_reply"
    printf 'mcp_args_get: jq error (rc=%s) filter=%s payload_len=%s\n' "$_rc" "${1-}" "$__mcp_reply" >&2
    ((_rc != 3)) || __mcp_hint mcp_args_get "${1-}"
    __mcp_reply=''
  else
    "$_as" "$@"
    [[ $_rc -ne 3 || -n $__mcp_failure ]] || __mcp_hint "mcp_args${_as#__mcp_as}" "${1-}" # keep the default
    [[ $_as != __mcp_as_get || $__mcp_kind != [ze] ]] || __mcp_no_args mcp_args_get
    _rc=0
  fi
  return "$_rc"
}

__mcp_no_tool() { # mcp_args|mcp_meta
  printf '%s_get: JSON tooling unavailable; use %s_raw instead' "$1" "$1" >&2
  [[ ${MCPBASH_MODE-} == minimal ]] || printf ', or %s' "$__mcp_no_program" >&2
  printf '\n' >&2
}

__mcp_meta_get() { # FILTER [--default V]
  local _rc=0
  __mcp_query META "${1-}" || _rc=$?
  case $_rc in
    0) __mcp_as_get "$@" ;;
    1) __mcp_no_tool mcp_meta ;;
    3) __mcp_hint mcp_meta_get "${1-}" && __mcp_kind=e ;;
    *) [[ -n $__mcp_reply ]] || __mcp_kind=e ;; # keep the output before the error
  esac
  [[ $_rc -eq 1 || $__mcp_kind == e ]] || __mcp_reply=$__mcp_reply$__mcp_nl
  return "$_rc"
}

__mcp_query() { # ARGS|META FILTER: rc 1 no JSON tool, 3 the filter does not compile, 5 it fails
  local _file=MCP_TOOL_$1_FILE _json=MCP_TOOL_$1_JSON _flat=MCPBASH_$1_FLAT
  _file=${!_file-} _json=${!_json-} _flat=${!_flat-}
  [[ ${MCPBASH_MODE-} != minimal ]] || return 1
  case $_json in '' | "$__mcp_none") _flat=.${__mcp_tab}o$__mcp_none ;; esac # nothing is in it
  if [[ ! -f $_file ]]; then
    __mcp_lookup "$_flat" "${_json:-$__mcp_none}" "$2"
  elif [[ -r $_file ]]; then
    __mcp_helper_get "$2" <"$_file"
  else
    return 5
  fi
}

# Without a program, it is unknown whether an argument exists. So both a default and "is required" could be wrong.
__mcp_argument() { # FILTER: as __mcp_query, but ends the tool without a program
  local _rc=0
  __mcp_query ARGS "$1" || _rc=$?
  [[ $_rc -ne 1 || ${MCPBASH_MODE-} == minimal ]] || mcp_fail -32603 "$1 cannot be read: $__mcp_no_program"
  return "$_rc"
}

__mcp_lookup() { # TABLE JSON FILTER: uses the table if it matches the JSON, otherwise a program
  local -a __mcp_rows
  local __mcp_text='' _rc=1
  [[ -z $1 ]] || __mcp_table "$1"
  if [[ -n $__mcp_text && $__mcp_text == "$2" ]]; then
    __mcp_simple "$3" && return 0 || _rc=$?
  fi
  ((_rc != 1)) || { __mcp_helper_get "$3" <<<"$2" && return 0 || _rc=$?; }
  return "$_rc"
}

__mcp_helper_get() { # FILTER <JSON
  local _rc=0
  [[ -n ${MCPBASH_JSON_TOOL_BIN-} ]] || return 1
  __mcp_helper get "$1" 2>/dev/null || _rc=$?
  __mcp_kind=${__mcp_reply:0:1} __mcp_reply=${__mcp_reply:1}
  case $_rc in 0 | 3) return "$_rc" ;; *) return 5 ;; esac
}

# A simple filter is PATH or PATH // LITERAL. The rows answer no other filters.
__mcp_grammar="^[ $__mcp_tab]*(\\.|(\\.([A-Za-z_][A-Za-z0-9_]*|\"[^\"\\]*\")(\\[(0|[1-9][0-9]*)])*)+)[ $__mcp_tab]*"
__mcp_grammar="$__mcp_grammar(//[ $__mcp_tab]*(\"[^\"\\]*\"|0|-?[1-9][0-9]{0,14}|true|false|null|empty)"
__mcp_grammar="${__mcp_grammar}[ $__mcp_tab]*)?\$"
__mcp_needless='^(.*)\."([A-Za-z_][A-Za-z0-9_]*)"(.*)$' # a quoted key that needs no quotes

__mcp_simple() { # FILTER: rc 0 answered, 5 the path does not exist, 1 not a simple filter
  local _path _step _literal
  [[ -n $1 ]] || set -- .
  [[ $1 != *"$__mcp_nl"* && $1 =~ $__mcp_grammar ]] || return 1
  _path=${BASH_REMATCH[1]} _literal=${BASH_REMATCH[7]}
  while [[ $_path =~ $__mcp_needless ]]; do _path=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}${BASH_REMATCH[3]}; done
  if ! __mcp_find "$_path"; then # the nearest ancestor decides the result
    while :; do
      case $_path in
        *\]) _step=\[ _path=${_path%\[*} ;;
        *\") _step=. _path=${_path%.\"*} ;;
        *) _step=. _path=${_path%.*} ;;
      esac
      ! __mcp_find "${_path:-.}" || break
    done
    case $__mcp_kind$_step in
      z? | o. | a\[) __mcp_kind=z __mcp_reply=null ;;
      *) __mcp_kind='' __mcp_reply='' && return 5 ;;
    esac
  fi
  case $__mcp_kind$_literal in
    [zx]empty) __mcp_kind=e __mcp_reply='' ;;
    [zx]null) __mcp_kind=z __mcp_reply=null ;;
    [zx]\"*) __mcp_kind=s __mcp_reply=${_literal#\"} && __mcp_reply=${__mcp_reply%\"} ;;
    [zx]?*) __mcp_kind=s __mcp_reply=$_literal ;;
  esac
}

__mcp_no_args() { # WHO
  __mcp_called || __mcp_sdk_warn "$1: no arguments were given; $__mcp_by_hand"
}

__mcp_args_raw() { __mcp_no_args mcp_args_raw && __mcp_raw MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$__mcp_none"; }
__mcp_meta_raw() { __mcp_raw MCP_TOOL_META_JSON MCP_TOOL_META_FILE "$__mcp_none"; }

__mcp_raw() { # INLINE FILE DEFAULT: the content of the variables with these names
  if [[ -f ${!2-} ]]; then
    cat <"${!2}"
  else
    __mcp_payload "$@"
  fi
}

__mcp_payload() { # INLINE FILE DEFAULT
  __mcp_reply=${!1-}
  if [[ -f ${!2-} ]]; then
    __mcp_reply=$(<"${!2}")
  elif [[ -z $__mcp_reply ]]; then
    __mcp_reply=$3
  fi
}

__mcp_characters() { # TEXT: number of characters
  local _at _n=0 _stretch
  for ((_at = 0; _at < ${#1}; _at += 256)); do # Bash 3.2 would need seconds for the whole text
    _stretch=${1:_at:256}
    _stretch=${_stretch//[$'\200'-$'\277']/} # keeps the first byte of each character
    _n=$((_n + ${#_stretch}))
  done
  __mcp_reply=$_n
}
