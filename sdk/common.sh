# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
# shellcheck disable=SC2050 # a == A asks for nocasematch
#
# Functions for all other files: calls of private functions, and tests of the environment.

__mcp_run() { # FUNCTION ARG...
  local __mcp_rc=0 __mcp_x='' __mcp_f='' __mcp_n='' __mcp_out=${__mcp_to-}
  case $- in *x*) set +x && __mcp_x=1 ;; esac
  case $- in *f*) ;; *) set -f && __mcp_f=1 ;; esac
  if [[ a == A ]]; then shopt -u nocasematch && __mcp_n=1; fi
  __mcp_to=''
  __mcp_plainly "$@" || __mcp_rc=$?
  [[ -z $__mcp_failure ]] || __mcp_reply=''
  if [[ -n $__mcp_out ]]; then
    while [[ $__mcp_reply == *"$__mcp_nl" ]]; do __mcp_reply=${__mcp_reply%?}; done
    eval "$__mcp_out=\$__mcp_reply"
  elif [[ -n $__mcp_reply ]]; then
    printf %s "$__mcp_reply" || __mcp_rc=$?
  fi
  [[ -z $__mcp_n ]] || shopt -s nocasematch
  [[ -z $__mcp_f ]] || set +f
  [[ -z $__mcp_x ]] || set -x
  [[ -z $__mcp_failure ]] || __mcp_refuse || return
  return "$__mcp_rc"
}

__mcp_plainly() { # FUNCTION ARG...
  local IFS=$' \t\n'
  # In the C locale, characters are bytes, ranges are exact, and long strings are a hundred times
  # faster. An invalid LC_ALL stays: Bash uses C then, and would print a warning at every return.
  if [[ -z ${LC_ALL-} || ${#__mcp_e_acute} -eq 1 ]]; then local LC_ALL=C; fi
  __mcp_reply='' __mcp_failure=''
  "$@"
}

__mcp_e_acute=$'\303\251' # one character in UTF-8 locales, two elsewhere
__mcp_none='{}'
__mcp_by_hand='start the script with mcp-runtool NAME --args JSON'
__mcp_no_program='put jq or mcp-bash on PATH'
__mcp_space=$' \t\n\v\f\r'
__mcp_large=32768 # from this size on, a program is faster than Bash
((BASH_VERSINFO[0] > 3)) || __mcp_large=512

__mcp_full() { [[ ${MCPBASH_MODE-} != minimal && -n ${MCPBASH_JSON_TOOL_BIN-} ]]; }
__mcp_called() { [[ -n ${MCP_TOOL_ARGS_JSON+set}${MCP_TOOL_ARGS_FILE+set} ]]; } # by a server or mcp-runtool

__mcp_append() { # FILE LINE: in a single write
  { printf '%s\n' "$2" >>"$1"; } 2>/dev/null || :
}

__mcp_program() { # stores our program in __mcp_bin: of the server, of this tree, or the installed one
  for __mcp_bin in "${MCPBASH_HELPER_BIN-}" "$__mcp_dir/../bin/mcp-jq" "$__mcp_dir/../bin/mcp-bash"; do
    [[ ! -x $__mcp_bin || ! -f $__mcp_bin ]] || return 0
  done
  __mcp_load program
  __mcp_on_path mcp-bash
}

__mcp_helper() { # HELPER ARG... <INPUT: the result of our program, or of the fallback
  if __mcp_program; then
    __mcp_reply=$(exec "$__mcp_bin" --helper "$@")
  else
    __mcp_load fallback
    __mcp_fallback "$@"
  fi
}
