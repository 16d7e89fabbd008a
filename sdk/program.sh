# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Programs on PATH, and the JSON tool of scripts outside a server.

__mcp_load common

__mcp_on_path() { # NAME: stores the path of the program in __mcp_bin
  local IFS=: _in _f=''
  case $- in *f*) ;; *) set -f && _f=1 ;; esac
  __mcp_bin=''
  for _in in ${PATH-}; do
    if [[ $_in == /* && -x $_in/$1 && -f $_in/$1 ]]; then
      __mcp_bin=$_in/$1
      break
    fi
  done
  [[ -z $_f ]] || set +f
  [[ -n $__mcp_bin ]]
}

# shellcheck disable=SC2034 # the tool uses them
__mcp_find_json_tool() { # stores jq, gojq or our program for the tool
  if __mcp_on_path jq || __mcp_on_path gojq; then
    MCPBASH_JSON_TOOL=${__mcp_bin##*/} MCPBASH_JSON_TOOL_BIN=$__mcp_bin
    return 0
  fi
  __mcp_program || return 0
  case $__mcp_bin in
    */mcp-jq) ;;
    *) __mcp_bin=__mcp_own_jq ;; # another program of ours needs the words --helper jq
  esac
  MCPBASH_JSON_TOOL=jq MCPBASH_JSON_TOOL_BIN=$__mcp_bin
}

__mcp_own_jq() { __mcp_program && "$__mcp_bin" --helper jq "$@"; }
