# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Paths: mcp_path_normalize, mcp_path_collapse.

__mcp_load common

__mcp_on_windows() { case ${OSTYPE-} in msys* | cygwin* | win*) ;; *) return 1 ;; esac; }

# Makes PATH absolute, without ".", ".." and repeated slashes. With PHYSICAL it stops at the first
# link with rc 1. It stores the link in __mcp_link and the rest of the path in __mcp_after.
__mcp_walk() { # PHYSICAL PATH
  local _physical=$1 _path=$2 IFS=/
  __mcp_reply=''
  if __mcp_on_windows && [[ $_path == [A-Za-z]:* ]]; then
    __mcp_load strings
    __mcp_upper "${_path:0:1}"
    __mcp_reply=$__mcp_reply${_path:1}
    return 0
  fi
  [[ $_path == /* ]] || _path=$PWD/$_path
  # shellcheck disable=SC2086 # a word for each component
  set -- $_path
  while (($#)); do
    case $1 in
      '' | .) ;;
      ..) __mcp_reply=${__mcp_reply%/*} ;;
      *)
        __mcp_reply=$__mcp_reply/$1
        if [[ -n $_physical && -L $__mcp_reply ]]; then
          shift
          __mcp_link=$__mcp_reply __mcp_after=$*
          return 1
        fi
        ;;
    esac
    shift
  done
  if __mcp_on_windows && [[ $__mcp_reply/ == /[a-z]/* ]]; then # a drive
    _path=${__mcp_reply:2}
    __mcp_load strings
    __mcp_upper "${__mcp_reply:1:1}"
    __mcp_reply=/$__mcp_reply$_path
  fi
  [[ -n $__mcp_reply ]] || __mcp_reply=/
}

__mcp_path_normalize() { # [--physical|--logical] [--] [PATH]
  local _physical=1 _how=builtin
  while :; do
    case ${1-} in
      --physical) _physical=1 ;;
      --logical) _physical='' ;;
      --) shift && break ;;
      *) break ;;
    esac
    shift
  done
  if ! __mcp_walk "$_physical" "${1-}"; then
    _how=program
    __mcp_helper path "${1-}" || __mcp_walk '' "${1-}"
  fi
  [[ ${MCP_PATH_DEBUG-} != 1 ]] || printf 'mcp_path_normalize: %s: %s -> %s\n' "$_how" "${1-}" "$__mcp_reply" >&2
}

__mcp_path_collapse() { __mcp_walk '' "${1-}"; } # PATH
