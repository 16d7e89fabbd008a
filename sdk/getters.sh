# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# The getters of arguments: mcp_args_get, _require, _bool and _int convert and check a value.

__mcp_load common

__mcp_as_get() { # FILTER [--default V]
  while [[ $# -gt 1 && $__mcp_kind != d && ($__mcp_kind == [ze] || -z $__mcp_reply) ]]; do
    [[ $2 != --default ]] || __mcp_kind=d __mcp_reply=${3-}
    shift
  done
}

__mcp_as_require() { # POINTER [MESSAGE]
  __mcp_absent || return 0
  __mcp_failure=${2-}
  [[ -n $__mcp_failure ]] || __mcp_required "${1-}"
}

__mcp_as_bool() { # POINTER [--default V]
  [[ ${2-} != --default ]] || ! __mcp_absent || __mcp_kind=d __mcp_reply=${3-}
  ! __mcp_absent || __mcp_missing "${1-}"
  case $__mcp_reply in true | 1) __mcp_reply=true ;; *) __mcp_reply=false ;; esac
}

__mcp_as_int() { # POINTER [--default N] [--min N] [--max N]
  local _pointer=${1-} _min='' _max=''
  __mcp_load numbers
  while (($# > 1)); do
    case $2 in
      --default) ! __mcp_absent || __mcp_kind=d __mcp_reply=${3-} ;;
      --min) _min=${3-} ;;
      --max) _max=${3-} ;;
      *) break ;;
    esac
    shift "$(($# > 2 ? 2 : 1))"
  done
  if [[ -n $_min && -n $_max ]] && ! __mcp_le "$_min" "$_max"; then
    __mcp_failure='mcp_args_int: --min cannot exceed --max'
  elif __mcp_absent; then
    __mcp_missing "$_pointer"
  elif [[ $__mcp_reply == +* ]] || ! __mcp_le "$__mcp_reply" "$__mcp_reply"; then
    __mcp_failure="$_pointer must be an integer"
  elif [[ -n $_min ]] && ! __mcp_le "$_min" "$__mcp_reply"; then
    __mcp_failure="$_pointer must be >= $_min"
  elif [[ -n $_max ]] && ! __mcp_le "$__mcp_reply" "$_max"; then
    __mcp_failure="$_pointer must be <= $_max"
  fi
}

__mcp_absent() { [[ $__mcp_kind == [ze?-] || -z $__mcp_reply && $__mcp_kind != d ]]; }

__mcp_missing() { # POINTER
  __mcp_required "$1"
  [[ $__mcp_kind != '?' ]] || __mcp_failure="$1 requires JSON tooling or a default"
}

__mcp_required() { # POINTER
  __mcp_failure="$1 is required"
  if __mcp_meant "$1"; then
    __mcp_failure="$__mcp_failure: the filter $__mcp_remedy"
  elif ! __mcp_called; then
    __mcp_failure="$__mcp_failure: no arguments were given; $__mcp_by_hand"
  fi
}

__mcp_meant() { # FILTER: stores a likely correction in __mcp_remedy
  case $1 in
    '' | [0123456789]* | *[!$__mcp_word.-]* | .*[!$__mcp_word-]* | *-[0123456789]*) return 1 ;;
    *-*) __mcp_remedy="needs quotes: .\"${1#.}\"" ;;
    .*) return 1 ;;
    *) __mcp_remedy="needs a dot: .$1" ;;
  esac
}

__mcp_hint() { # WHO FILTER: hint for a filter that does not compile
  ! __mcp_meant "$2" || printf '%s: the filter %s %s\n' "$1" "$2" "$__mcp_remedy" >&2
}
