# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Strings: JSON strings with special characters, byte length, upper case.

__mcp_load common utf8

__mcp_control=$'[\001-\037\177]'
__mcp_stretch=4096 # replacing takes time quadratic in the length, and cubic in Bash 3.2
((BASH_VERSINFO[0] > 3)) || __mcp_stretch=256

__mcp_quote_hard() { # __mcp_reply: escapes it for a JSON string
  [[ -n ${LC_ALL-} && ${#__mcp_e_acute} -ne 1 ]] || local LC_ALL=C
  local _text=$__mcp_reply _at=0 _end _all=''
  if ((${#_text} > __mcp_large)) || ! __mcp_is_utf8 "$_text"; then
    if __mcp_full && __mcp_helper quote <<<"$_text"; then
      __mcp_reply=${__mcp_reply#\"}
      __mcp_reply=${__mcp_reply%\"}
      return 0
    fi
  fi
  while ((_at < ${#_text})); do
    _end=$((_at + __mcp_stretch))
    while ((_end < _at + __mcp_stretch + 4)) && [[ ${_text:_end:1} == [$'\200'-$'\277'] ]]; do
      _end=$((_end + 1)) # not within a character
    done
    __mcp_reply=${_text:_at:_end - _at}
    __mcp_is_utf8 "$__mcp_reply" || __mcp_repair_utf8 "$__mcp_reply"
    __mcp_quote_stretch
    _all=$_all$__mcp_reply _at=$_end
  done
  __mcp_reply=$_all
}

__mcp_quote_stretch() { # __mcp_reply: escapes valid UTF-8
  local _text=$__mcp_reply _c _escape
  _text=${_text//"$__mcp_bs"/"$__mcp_bsbs"}
  _text=${_text//"$__mcp_quot"/"$__mcp_bquot"}
  _text=${_text//"$__mcp_nl"/"$__mcp_bn"}
  while [[ $_text == *$__mcp_control* ]]; do
    _c=${_text#"${_text%%$__mcp_control*}"}
    _c=${_c:0:1}
    case $_c in
      "$__mcp_tab") _escape=\\t ;;
      $'\r') _escape=\\r ;;
      $'\b') _escape=\\b ;;
      $'\f') _escape=\\f ;;
      *) printf -v _escape '\\u%04x' "'$_c" ;;
    esac
    _text=${_text//"$_c"/"$_escape"}
  done
  __mcp_reply=$_text
}

__mcp_byte_length() { # TEXT
  __mcp_reply=${1-}
  __mcp_reply=${#__mcp_reply}$__mcp_nl
}

__mcp_upper() { # WORD
  local _lower=abcdefghijklmnopqrstuvwxyz _upper=ABCDEFGHIJKLMNOPQRSTUVWXYZ _word=$1 _at
  __mcp_reply=''
  while [[ -n $_word ]]; do
    _at=${_lower%%"${_word:0:1}"*}
    if ((${#_at} < 26)); then
      __mcp_reply=$__mcp_reply${_upper:${#_at}:1}
    else
      __mcp_reply=$__mcp_reply${_word:0:1}
    fi
    _word=${_word:1}
  done
}
