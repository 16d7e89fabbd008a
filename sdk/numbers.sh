# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Numbers: parsing, comparison at any size, and times in microseconds.

__mcp_load common

__mcp_uint() { # VALUE DEFAULT
  local _value
  for _value in "${1-}" "${2-}" 0; do
    _value=${_value#"${_value%%[!$__mcp_space]*}"}
    _value=${_value%"${_value##*[!$__mcp_space]}"}
    case $_value in '' | *[!0-9]*) ;; *) break ;; esac
  done
  _value=${_value#"${_value%%[!0]*}"}
  __mcp_reply=${_value:-0}
}

__mcp_limit() { # VALUE VARIABLE DEFAULT: as __mcp_uint, within Bash's arithmetic
  __mcp_uint "${!2-}" "$3"
  __mcp_uint "$1" "$__mcp_reply"
  ((${#__mcp_reply} < 16)) || __mcp_reply=999999999999999
}

__mcp_decimal() { # WORD: removes unnecessary zeros; rc 1 unless it is a decimal number
  local _integer=${1%%.*} _fraction
  _fraction=${1#"$_integer"}
  case $_integer${_fraction#.}:$_fraction in *[!0-9]*:* | :* | *:.) return 1 ;; esac
  _integer=${_integer#"${_integer%%[!0]*}"}
  __mcp_reply=${_integer:-0}$_fraction
}

__mcp_le() { # A B: rc 0 if both are integers of any size, and A <= B
  local _a=${1#[-+]} _b=${2#[-+]}
  [[ -n $_a && -n $_b && $_a$_b != *[!0123456789]* ]] || return 1
  _a=${_a#"${_a%%[!0]*}"}
  _b=${_b#"${_b%%[!0]*}"}
  case ${1:0:1}${_a:+.}/${2:0:1}${_b:+.} in # -. is below zero
    -./-.) set -- "$_b" "$_a" ;;
    -./*) return 0 ;;
    */-.) return 1 ;;
    *) set -- "$_a" "$_b" ;;
  esac
  ((${#1} < ${#2})) || [[ ${#1} -eq ${#2} && ! $1 > $2 ]]
}

__mcp_microseconds() { # SECONDS: rc 1 if it is not a number
  __mcp_decimal "${1%.}" || return 1
  local _integer=${__mcp_reply%%.*} _fraction=${__mcp_reply#*.}
  [[ $__mcp_reply == *.* ]] || _fraction=''
  _fraction=${_fraction}000000
  ((${#_integer} < 8)) || _integer=9999999
  __mcp_reply=$((_integer * 1000000 + 10#${_fraction:0:6}))
}

__mcp_as_seconds() { # MICROSECONDS
  printf -v __mcp_seconds '%d.%06d' "$(($1 / 1000000))" "$(($1 % 1000000))"
}
