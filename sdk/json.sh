# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# JSON values: checks and the compact form.

__mcp_load common utf8

__mcp_stx=$'\002' __mcp_etx=$'\003'
__mcp_odd=$'[\001-\010\013\014\016-\037\177]'

# Checks whether TEXT is one JSON value. rc 0: yes, __mcp_reply has the compact form. rc 1: no. rc
# 2: too large or unusual to check here.
#
# The text is split at its quotes, so pieces are outside and inside of strings in turn. The pieces
# outside, with a quote for each string, are then rewritten. A scalar or string becomes v. A key
# with its colon becomes k, a member m, and an innermost container v. One value ends as v.
__mcp_plain() { # TEXT
  local _text=$1 _compact='' _shape='' _piece _inside='' _before='' _passes=0 IFS=\"
  ((${#_text} <= __mcp_large)) || return 2
  [[ $_text != *$__mcp_odd* ]] && __mcp_is_utf8 "$_text" || return 2
  _text=${_text//"$__mcp_bsbs"/"$__mcp_stx"}
  _text=${_text//"$__mcp_bquot"/"$__mcp_etx"}
  # shellcheck disable=SC2086 # the blank keeps an empty last piece
  set -- $_text' '
  (($# % 2)) || return 1
  (($# < 400)) || return 2
  for _piece; do
    if [[ -z $_inside ]]; then
      _shape=$_shape$_piece _compact=$_compact${_piece//[$__mcp_blank]/} _inside=1
    else
      case $_piece in
        *[$'\t\n\r']*) return 1 ;;
        *\\*) __mcp_escapes "$_piece" || return ;;
      esac
      _shape=$_shape\" _compact=$_compact\"$_piece\" _inside=''
    fi
  done

  _shape=${_shape//true/v}
  _shape=${_shape//false/v}
  _shape=${_shape//null/v}
  IFS="$__mcp_blank,:[]{}v\""
  # shellcheck disable=SC2086 # what is left in between must be numbers
  set -- $_shape
  (($# < 400)) || return 2
  for _piece; do
    [[ -z $_piece ]] || __mcp_is_number "$_piece" || return 1
  done
  _shape=${_shape//[-+.0-9Ee]/n}
  while [[ $_shape == *nn* ]]; do _shape=${_shape//nn/n}; done
  _shape=${_shape//[$__mcp_blank]/}
  _shape=${_shape//n/v}
  _shape=${_shape//\":/k}
  _shape=${_shape//\"/v}
  _shape=${_shape//\{\}/v}
  _shape=${_shape//\[\]/v}
  _shape="{k$_shape}" # as a member, so that v,v is not one value
  while [[ $_shape != "$_before" ]]; do
    ((++_passes < 50)) || return 2
    _before=$_shape
    _shape=${_shape//\{m\}/v}
    _shape=${_shape//\[v\]/v}
    _shape=${_shape//kv/m} # afterwards v after a comma is always an element
    _shape=${_shape//m,m/m}
    _shape=${_shape//v,v/v}
  done
  [[ $_shape == v ]] || return 1
  __mcp_reply=${_compact//"$__mcp_etx"/"$__mcp_bquot"}
  __mcp_reply=${__mcp_reply//"$__mcp_stx"/"$__mcp_bsbs"}
}

__mcp_escapes() { # PIECE of a string: rc 1 an invalid escape, 2 a surrogate
  local _text=${1//\\[bfnrt\/]/} _hex='[0-9A-Fa-f]'
  [[ $_text != *\\u[Dd][89A-Fa-f]* ]] || return 2
  _text=${_text//\\u$_hex$_hex$_hex$_hex/}
  [[ $_text != *\\* ]]
}

__mcp_is_number() { # WORD
  local _exponent=${1#"${1%%[Ee]*}"} _fraction _integer=${1%%[Ee]*}
  _fraction=${_integer#"${_integer%%.*}"}
  _integer=${_integer%%.*}
  case ${_integer#-} in '' | *[!0-9]* | 0?*) return 1 ;; esac
  case ${_fraction#.}:$_fraction in *[!0-9]*:* | :.) return 1 ;; esac
  _exponent=${_exponent#?}:$_exponent
  case ${_exponent#[-+]} in :?* | *[!0-9]*:*) return 1 ;; esac
}

__mcp_compact() { # TEXT: as __mcp_plain, or with a program; rc 1 not one JSON value, 2 no program
  local _rc=0
  __mcp_plain "$1" || _rc=$?
  case $_rc in
    0) ;;
    1) return 1 ;;
    *)
      __mcp_full || return 2
      __mcp_helper json <<<"$1" || return 1
      ;;
  esac
}

__mcp_is_valid_json() { # TEXT
  local _rc=0
  __mcp_full || return 0
  __mcp_compact "${1-}" || _rc=1
  __mcp_reply=''
  return "$_rc"
}
