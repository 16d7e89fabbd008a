# shellcheck shell=bash disable=SC2053 # patterns are kept in variables
#
# UTF-8: checks and repair.

__mcp_utf8=( # well-formed sequences of several bytes
  $'[\302-\337][\200-\277]'
  $'\340[\240-\277][\200-\277]'
  $'[\341-\354\356\357][\200-\277][\200-\277]'
  $'\355[\200-\237][\200-\277]'
  $'\360[\220-\277][\200-\277][\200-\277]'
  $'[\361-\363][\200-\277][\200-\277][\200-\277]'
  $'\364[\200-\217][\200-\277][\200-\277]'
)

__mcp_is_utf8() { # TEXT: rc 0 if it is valid
  local _text=$1 _sequence
  [[ $_text == *[$'\200'-$'\377']* ]] || return 0
  for _sequence in "${__mcp_utf8[@]}"; do _text=${_text//$_sequence/x}; done
  [[ $_text != *[$'\200'-$'\377']* ]]
}

__mcp_repair_utf8() { # TEXT: replaces each invalid byte by U+FFFD
  local _rest=$1 _sequence _n
  __mcp_reply=''
  while [[ -n $_rest ]]; do
    _n=${_rest%%[$'\200'-$'\377']*}
    _n=${#_n}
    if ((_n == 0)); then
      for _sequence in "${__mcp_utf8[@]}"; do
        for _n in 4 3 2 0; do [[ ${_rest:0:_n} != $_sequence ]] || break 2; done
      done
    fi
    if ((_n)); then
      __mcp_reply=$__mcp_reply${_rest:0:_n} _rest=${_rest:_n}
    else
      __mcp_reply=$__mcp_reply$'\357\277\275' _rest=${_rest:1}
    fi
  done
}
