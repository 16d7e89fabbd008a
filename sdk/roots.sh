# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Roots: mcp_roots_contains, and mcp_require_path for a path argument within the roots.

__mcp_load common paths

# Stores the physical PATH in __mcp_reply. rc 1 if no root contains it.
__mcp_in_roots() { # PATH
  local _path=$1 _root _link='' _physical IFS=$__mcp_nl
  # shellcheck disable=SC2086
  set -- ${MCP_ROOTS_PATHS-}
  (($#)) || return 1
  if __mcp_walk physical "$_path"; then
    _physical=$__mcp_reply
    for _root; do
      __mcp_walk physical "$_root" || { _link=1 && continue; }
      if [[ $__mcp_reply == / || $_physical == "$__mcp_reply" || $_physical == "$__mcp_reply"/* ]]; then
        __mcp_reply=$_physical
        return 0
      fi
    done
    [[ -n $_link ]] || return 1
  fi
  __mcp_helper path "$_path" "$@"
}

__mcp_roots_contains() { # PATH
  local _rc=0
  __mcp_in_roots "${1-}" || _rc=1
  __mcp_reply=''
  return "$_rc"
}

__mcp_require_path() { # POINTER [--default-to-single-root] [--allow-empty]
  local _pointer=${1-} _single='' _empty='' _path
  if [[ -z $_pointer ]]; then
    __mcp_reject 'mcp_require_path: argument pointer is required'
    return
  fi
  while (($# > 1)); do
    case $2 in
      --default-to-single-root) _single=1 ;;
      --allow-empty) _empty=1 ;;
      *) break ;;
    esac
    shift
  done
  __mcp_load arguments
  __mcp_argument "$_pointer" || __mcp_kind=-
  if __mcp_absent; then
    if [[ -n $_single && ${MCP_ROOTS_COUNT:-0} == 1 ]]; then
      __mcp_reply=${MCP_ROOTS_PATHS-}
    elif [[ -n $_single ]]; then
      __mcp_reject_by_roots "$_pointer is required when zero or multiple roots are configured"
    elif [[ -n $_empty ]]; then
      __mcp_reply=''
    else
      __mcp_reply='' && __mcp_required "$_pointer"
    fi
    [[ -n $__mcp_reply ]] || return 0
  fi
  __mcp_named "$_pointer" || return 0
  if [[ -z ${MCP_ROOTS_PATHS-} && ${MCP_ROOTS_COUNT:-0} == 0 && ${MCP_ROOTS_GIVEN-} != 1 ]]; then
    __mcp_path_normalize -- "$__mcp_reply"
  else
    _path=$__mcp_reply
    __mcp_below_root
    __mcp_in_roots "$__mcp_reply" || __mcp_outside "$_pointer" "$_path"
  fi
}

# Stores the path that the text in __mcp_reply names: "~" stands for HOME, and a file: URI for its path. Other URIs and
# the homes of others are refused.
__mcp_named() { # POINTER
  local _text=$__mcp_reply _rest _byte='\x'
  case $_text in
    \~ | \~/*)
      [[ -z ${HOME-} ]] || { __mcp_reply=$HOME${_text:1} && return; }
      __mcp_reject "$1: ~ stands for HOME, which is not set"
      ;;
    \~[A-Za-z_]*/*) __mcp_reject "$1: ${_text%%/*} is not expanded; use the whole path" ;;
    [Ff][Ii][Ll][Ee]:/*)
      _rest=${_text:5}
      case $_rest in
        ///*) _rest=${_rest:2} ;;
        //[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]/*) _rest=${_rest:11} ;;
        //*) __mcp_reject "$1 is a file of another host: $_text" && return 1 ;;
      esac
      if [[ $_rest == *%* ]]; then
        if [[ ${_rest//%[0-9A-Fa-f][0-9A-Fa-f]/} == *%* || $_rest == *%00* ]]; then
          __mcp_reject "$1 is not a valid URI: $_text" && return 1
        fi
        _rest=${_rest//"$__mcp_bs"/"$__mcp_bsbs"}
        _rest=${_rest//%/"$_byte"}
        printf -v _rest %b "$_rest"
      fi
      __mcp_reply=$_rest
      return
      ;;
    *)
      [[ $_text =~ ^[A-Za-z][A-Za-z0-9+.-]+:// ]] || return 0
      __mcp_reject "$1 is a URL, not a path: $_text"
      ;;
  esac
  return 1
}

# A relative path in __mcp_reply is relative to the root, if there is exactly one.
__mcp_below_root() {
  local _root=${MCP_ROOTS_PATHS-} _path=$__mcp_reply
  [[ ${MCP_ROOTS_COUNT-} == 1 && -n $_root ]] && __mcp_is_relative "$_path" || return 0
  # As in the Bash edition, a path to a root below the working directory may begin there: data/x for the root data.
  if [[ $_root == "$PWD"/* && ! -e $_root/$_path ]] && __mcp_in_roots "$_path"; then
    return
  fi
  __mcp_reply=$_root/$_path
}

__mcp_outside() { # POINTER PATH
  local _message="$1 is outside configured MCP roots"
  if [[ ${MCP_ROOTS_COUNT-} == [2-9]* || ${MCP_ROOTS_COUNT-} == 1?* ]] && __mcp_is_relative "$2"; then
    _message="$1 is relative, and there are several roots; use an absolute path below one of them"
  fi
  __mcp_reject_by_roots "$_message"
}

__mcp_is_relative() { # PATH
  [[ $1 != /* ]] && ! { __mcp_on_windows && [[ $1 == [A-Za-z]:* ]]; }
}

__mcp_reject_by_roots() { # MESSAGE
  local _roots=${MCP_ROOTS_PATHS:-none} _comma=', '
  _roots=${_roots//"$__mcp_nl"/"$_comma"}
  __mcp_reject "$1: $_roots"
}

__mcp_reject() { # MESSAGE
  __mcp_reply='' __mcp_failure=$1
}
